// A worker inside any program: devices, served to clients over listening sockets. burn-server is the same worker as a
// program.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/tls/options.h"

namespace burn::daemon {
class Service;
}

namespace burn::server {

class WorkerHost;

struct ServerOptions {
  std::string device = "cpu";         // or several: "cpu,null", "cuda:0,1"; clients choose one by its position
  std::string ws = "127.0.0.1:3000";  // HOST:PORT; port 0: any free one; empty: no listener
  std::string grpc;
  std::string unix_path;       // WebSocket over a unix socket
  std::string grpc_unix_path;  // gRPC over a unix socket

  // A name or numeric address at which other workers reach this one when sessions compute together. Use a network that
  // only the workers have access to.
  std::string collective_address = "127.0.0.1";
  std::string otlp = {};              // collector of spans of runs, a URL (docs/operate/traces.md); empty: none
  std::uint64_t trace_one_in = 1000;  // one of this many runs is traced
  std::string operator_address;       // burn-server's operator port (docs/operate); none inside a program

  // Which clients are served; docs/security.md.
  std::string tenant_file;      // file that defines tenants (docs/operate/tenants.md); empty: none
  std::string audit_log;        // file of the audit log; empty: none
  bool audit_required = false;  // refuse new sessions while the audit log cannot be written
  // TLS files for `ws` and `grpc`; without a certificate TLS is not used.
  net::tls::ServerFiles tls = {};
  std::string token_file;                  // file of tokens, one of which a client must send; empty: none required
  bool insecure = false;                   // without tokens, also listen where other machines can connect
  std::vector<std::string> allow_origins;  // of web pages that may connect: "https://example.org", "*"
  std::size_t sessions = 1024;             // open at once, for all clients
  std::size_t sessions_per_peer = 256;     // open at once, for one address; not for unix sockets
  std::size_t max_connections = 0;         // for all listeners; 0: derived from `sessions` and the free descriptors

  // Limits of each session.
  std::uint64_t session_bytes = std::uint64_t{1} << 40;  // of tensors; never more than the device has
  std::uint64_t programs = 1 << 16;                      // defined at a time
  std::chrono::milliseconds run_timeout{600'000};        // for one run; 0: no limit

  // Bytes of compiled programs that each device caches; the newest is kept in any case. Not set: a gigabyte, or less on
  // a machine with little memory.
  std::optional<std::uint64_t> plan_cache = {};
  std::uint64_t idle_memory = std::uint64_t{64} << 20;  // bytes kept for reuse while there are no sessions
  std::vector<std::string> advertise = {};              // as in daemon::ServiceOptions
  int session_lease = 30;  // longest time in seconds that sessions may outlive their connections; 0: none
  int hello_seconds = 10;  // from the connection to the end of the handshake
  int drain_seconds = 5;   // for stop() to let clients finish their work
};

// Serves from construction to stop(). Thread-safe.
class Server {
 public:
  // Throws Error: NOT_FOUND for a device that does not exist, listing those that do; UNAVAILABLE for an address in use;
  // INVALID_ARGUMENT for a malformed address (also the one for collectives), or if there is none at all;
  // FAILED_PRECONDITION for an address that other machines can reach, without a token file or `insecure`.
  explicit Server(const ServerOptions& options = {});
  // stop(). Does nothing in a child of fork().
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const;                       // the first of urls()
  const std::vector<std::string>& urls() const;  // "ws://127.0.0.1:3000", with the ports actually bound
  std::size_t connections() const;
  struct SessionCounts {
    std::uint64_t runs = 0;
    std::uint64_t resumes = 0;     // times that sessions continued over another connection
    std::uint64_t duplicates = 0;  // frames that arrived twice, and were dropped
    std::size_t lost = 0;          // sessions without a connection now
    // Runs that were told to stop and could not, and still compute. Their clients were told long ago.
    std::uint64_t runs_left_behind = 0;
  };
  SessionCounts session_counts() const;
  std::size_t sessions() const;
  std::uint64_t memory_in_use() const;  // bytes, of all devices

  // Reads ServerOptions::token_file and tenant_file again. Open sessions stay, except those of tenants that are
  // disabled or removed. Errors: as the constructor's; the old tokens then stay in use.
  Status reload_tokens();
  // The same for ServerOptions::tls; open connections stay. Without TLS does nothing.
  Status reload_certificate();

  // Refuses new sessions, gives clients that take notices up to drain_seconds to end theirs, lets received work be
  // executed and answered, tells clients that the server is shutting down, and closes. Waits for running work, however
  // long it takes; a program that cannot wait for that ends its process, as burn-server does. Idempotent.
  void stop();

 private:
  const std::shared_ptr<WorkerHost> host_;
  const std::unique_ptr<daemon::Service> service_;
};

}  // namespace burn::server
