// What a service is started with, whatever daemon it is of.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "net/tls/options.h"

namespace burn::daemon {

struct ServiceOptions {
  bool requires_certificates() const { return tls.client_certificates == net::tls::ClientCertificates::required; }

  // Where to listen. An empty address: not offered.
  std::string ws;              // HOST:PORT for WebSocket; port 0: any free one
  std::string grpc;            // HOST:PORT for gRPC
  std::string unix_path;       // of a unix socket for WebSocket
  std::string grpc_unix_path;  // of a unix socket for gRPC

  std::vector<std::string> advertise = {};  // URLs of this very server, by which clients come back

  // "HOST:PORT" or "unix:PATH" of the operator's port; empty: none.
  std::string operator_address;
  std::string title = "burn 0";  // of the program, with its version, for the operator

  // Which clients are served; docs/security.md.
  std::string token_file;                  // empty: no token is required
  std::string tenant_file = {};            // empty: there are no tenants
  std::string audit_log = {};              // empty: none is written
  bool audit_required = false;             // new sessions are refused while it cannot be written
  net::tls::ServerFiles tls = {};          // without a certificate no TLS is spoken
  bool insecure = false;                   // without tokens, listen also where other machines can connect
  std::vector<std::string> allow_origins;  // of pages that may connect in a browser: "https://example.org", "*"
  std::size_t sessions = 1024;             // at once, of all clients
  std::size_t sessions_per_peer = 256;     // at once, of one address; does not hold for unix sockets
  std::size_t max_connections = 0;         // of all listeners; 0: derived from `sessions` and the free descriptors
  std::size_t session_descriptors = 0;     // that the host opens for a session, besides its connection's

  std::chrono::seconds session_lease{30};  // that sessions may outlive their connections, at most; 0: not at all
  std::chrono::seconds hello_timeout{10};  // from the connection to the end of the handshake
  std::chrono::seconds drain_timeout{5};   // for clients' work to be finished at the end
};

}  // namespace burn::daemon
