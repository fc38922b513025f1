// The options of a service, common to all daemons.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "net/tls/options.h"

namespace burn::daemon {

struct ServiceOptions {
  bool requires_certificates() const { return tls.client_certificates == net::tls::ClientCertificates::required; }

  // Addresses to listen on. Empty: that transport is not offered.
  std::string ws;              // HOST:PORT for WebSocket; port 0: any free one
  std::string grpc;            // HOST:PORT for gRPC
  std::string unix_path;       // path of a unix socket for WebSocket
  std::string grpc_unix_path;  // path of a unix socket for gRPC

  std::vector<std::string> advertise = {};  // URLs of this very server, at which clients resume their sessions

  // "HOST:PORT" or "unix:PATH" of the operator's port; empty: none.
  std::string operator_address;
  std::string title = "burn 0";  // name and version of the program, for the operator

  // Which clients are served; see docs/security.md.
  std::string token_file;          // empty: no token is required
  std::string tenant_file = {};    // empty: there are no tenants
  std::string audit_log = {};      // empty: none is written
  bool audit_required = false;     // refuse new sessions while the audit log cannot be written
  net::tls::ServerFiles tls = {};  // without a certificate TLS is not used
  bool insecure = false;           // without tokens, listen also where other machines can connect
  std::vector<std::string>
      allow_origins;                    // origins of pages that may connect from a browser: "https://example.org", "*"
  std::size_t sessions = 1024;          // concurrent sessions of all clients
  std::size_t sessions_per_peer = 256;  // concurrent sessions of one address; not applied to unix sockets
  std::size_t max_connections = 0;      // of all listeners; 0: derived from `sessions` and the free descriptors
  std::size_t session_descriptors = 0;  // descriptors that the host opens per session, besides its connection's

  std::chrono::seconds session_lease{30};  // longest time that sessions may outlive their connections; 0: not at all
  std::chrono::seconds hello_timeout{10};  // from connecting to the end of the handshake
  std::chrono::seconds drain_timeout{5};   // time for finishing clients' work at shutdown
};

}  // namespace burn::daemon
