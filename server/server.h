// A worker inside any program: devices, served to clients over the sockets that it listens on. burn-server is the same
// worker as a program.
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
  std::string device = "cpu";         // or several: "cpu,null", "cuda:0,1"; clients name one by its place in the list
  std::string ws = "127.0.0.1:3000";  // HOST:PORT; port 0: any free one; empty: not offered
  std::string grpc;
  std::string unix_path;       // WebSocket over a unix socket
  std::string grpc_unix_path;  // gRPC over a unix socket

  // A name or digits: where other workers reach this one when sessions compute together. Its network has to be theirs
  // alone.
  std::string collective_address = "127.0.0.1";
  std::string otlp = {};              // URL of a collector to which runs are sent (docs/operate/traces.md); empty: none
  std::uint64_t trace_one_in = 1000;  // of so many runs one
  std::string operator_address;  // of burn-server's operator port (docs/operate); a worker inside a program has none

  // Which clients are served; docs/security.md.
  std::string tenant_file;      // what tenants there are (docs/operate/tenants.md); empty: none
  std::string audit_log;        // of sessions, a line each; empty: none
  bool audit_required = false;  // new sessions are refused while it cannot be written
  // Files of TLS for `ws` and `grpc`; without a certificate none is spoken.
  net::tls::ServerFiles tls = {};
  std::string token_file;                  // tokens, of which a client has to know one; empty: no token is required
  bool insecure = false;                   // without tokens, listen also where other machines can connect
  std::vector<std::string> allow_origins;  // of pages that may connect in a browser: "https://example.org", "*"
  std::size_t sessions = 1024;             // at once, of all clients
  std::size_t sessions_per_peer = 256;     // at once, of one address; does not hold for unix sockets
  std::size_t max_connections = 0;         // of all listeners; 0: derived from `sessions` and the free descriptors

  // What a session may have.
  std::uint64_t session_bytes = std::uint64_t{1} << 40;  // of tensors; never more than the device has
  std::uint64_t programs = 1 << 16;                      // known at a time
  std::chrono::milliseconds run_timeout{600'000};        // for one run; 0: no limit

  // Bytes of compiled programs that each device keeps; the newest is kept in any case. Not set: a gigabyte, or less
  // where there is little memory.
  std::optional<std::uint64_t> plan_cache = {};
  std::uint64_t idle_memory = std::uint64_t{64} << 20;  // bytes kept for reuse while there are no sessions
  std::vector<std::string> advertise = {};              // as daemon::ServiceOptions has it
  int session_lease = 30;  // seconds that sessions may outlive their connections, at most; 0: not at all
  int hello_seconds = 10;  // from the connection to the end of the handshake
  int drain_seconds = 5;   // for clients' work to be finished by stop()
};

// Serves from construction to stop(). Thread-safe.
class Server {
 public:
  // Throws Error: NOT_FOUND for a device that does not exist, with those that do; UNAVAILABLE for an address in use;
  // INVALID_ARGUMENT for an address that makes no sense, or for none at all, also for collectives; FAILED_PRECONDITION
  // for an address that other machines can reach, without a token file or `insecure`.
  explicit Server(const ServerOptions& options = {});
  // stop(). In a child of fork() does nothing.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string url() const;                       // the first of urls()
  const std::vector<std::string>& urls() const;  // "ws://127.0.0.1:3000", with the ports that were really bound
  std::size_t connections() const;
  struct SessionCounts {
    std::uint64_t runs = 0;
    std::uint64_t resumes = 0;     // sessions that went on over another connection
    std::uint64_t duplicates = 0;  // frames that came twice, and were dropped
    std::size_t lost = 0;          // sessions without a connection now
    // Runs that were told to end and could not: those that still compute, though their clients were told long ago.
    std::uint64_t runs_left_behind = 0;
  };
  SessionCounts session_counts() const;
  std::size_t sessions() const;
  std::uint64_t memory_in_use() const;  // of all devices, in bytes

  // Reads ServerOptions::token_file and tenant_file again; sessions that are open stay, but for those of tenants that
  // are disabled or gone. Errors: as the constructor's; the tokens are
  // then what they were.
  Status reload_tokens();
  // The same of ServerOptions::tls; connections that are open stay. Without TLS nothing is done.
  Status reload_certificate();

  // Takes no new sessions, gives clients that take notices up to drain_seconds to end theirs, lets what clients have
  // sent be executed and answered, tells them that the server is shutting down, and closes. Waits for what is being
  // executed, however long it takes; a program that cannot wait for that ends its process, as burn-server does.
  // Idempotent.
  void stop();

 private:
  const std::shared_ptr<WorkerHost> host_;
  const std::unique_ptr<daemon::Service> service_;
};

}  // namespace burn::server
