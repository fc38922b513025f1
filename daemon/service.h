// The service of a daemon: listens, accepts connections, admits clients, ends what is overdue, and drains at the end. A
// daemon is a Host, which has the devices and opens the sessions, and a main() that runs one of these around it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "daemon/host.h"
#include "daemon/metered_acceptor.h"
#include "daemon/options.h"
#include "daemon/service_options.h"
#include "net/tls/file_stamp.h"
#include "net/tls/server_tls.h"

namespace burn::daemon {

// A session as an operator sees it.
struct SessionView {
  std::string name, tenant, device;
  bool is_connected = false;  // else it waits for its client within its lease
  std::chrono::steady_clock::duration age{0};
  std::uint64_t resumes = 0;
  proto::SessionStats stats;
};

enum class Transport : std::uint8_t { websocket, grpc, unix_socket, grpc_unix };
inline constexpr std::size_t kTransports = 4;

// Serves from construction to stop(). Thread-safe.
class Service {
 public:
  // Reads the files of host->admission(), opens the audit log, starts the service's threads and listens.
  // Throws Error: INVALID_ARGUMENT for an advertised URL that is none of TCP; as ServerTls::open(); UNAVAILABLE for an
  // address in use; INVALID_ARGUMENT for an address that makes no sense, or for none at all; FAILED_PRECONDITION for an
  // address that other machines can reach, without a token file or `insecure`; as Tokens::reload().
  Service(const ServiceOptions& options, std::shared_ptr<Host> host);
  // stop(). In a child of fork(), which has none of its threads, does nothing.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // "ws://127.0.0.1:3000", with the ports that were really bound. At least one.
  const std::vector<std::string>& urls() const;
  // Connections that are not disposed of yet.
  std::size_t connections() const;
  std::size_t connections_limit() const { return connections_limit_; }
  // Sessions that are not over, and those that are but have not given their memory back.
  std::size_t sessions() const;
  std::size_t sessions_limit() const { return options_.sessions; }
  // Null: no TLS is spoken.
  net::tls::ServerTls* tls() const { return tls_.get(); }
  // What reload_credentials() and reload_certificate() would say now; nothing is changed. `what`, if not null: which of
  // the two it is about, "credentials" or "certificate".
  Status check_files(std::string_view* what = nullptr) const;
  // Options that may change while the service runs hold from now on: session_lease, for new sessions, drain_timeout and
  // audit_required.
  void change(const OptionValues& values);
  std::chrono::seconds drain_timeout() const { return drain_timeout_; }
  // Reads tokens and tenants again: all of it, or it stays as it was. Sessions of tenants that are disabled or gone
  // end. Errors: AdmissionControl::reload()'s.
  Status reload_credentials();
  // The same of the certificate; without TLS nothing is done. Errors: ServerTls::reload()'s.
  Status reload_certificate();
  // Ends a session that has a connection; its client is told that an operator did. Errors: NOT_FOUND.
  Status close_session(std::string_view name);
  // Sessions that are not over, those with the most memory first.
  std::vector<SessionView> session_views() const;
  struct Reloads {
    std::atomic<std::uint64_t> credentials = 0, credentials_refused = 0, certificate = 0, certificate_refused = 0;
    std::atomic<std::uint64_t> config = 0, config_refused = 0;
  };
  const Reloads& reloads() const { return reloads_; }
  Reloads& reloads() { return reloads_; }
  // Of one listener; null where it is not offered.
  const ByteCounts* bytes(Transport transport) const { return bytes_[static_cast<std::size_t>(transport)].get(); }
  // Whether stop() was called.
  bool is_stopping() const { return is_stopping_; }
  // Whether the thread that sees to deadlines has not come round for longer than kMaxPause beyond its time.
  bool is_stuck(std::chrono::steady_clock::time_point now) const;
  static constexpr std::chrono::seconds kMaxPause{30};

  // Takes no new sessions, gives clients that take notices up to drain_timeout to end theirs, lets what other clients
  // have sent be executed and answered meanwhile, tells all that the server is shutting down, and closes. Then waits
  // for what is being executed, however long it takes. Idempotent. In a child of fork() does nothing.
  void stop();

 private:
  struct Parts;
  bool is_forked() const;
  std::chrono::milliseconds tick();
  void end_sessions_of_gone_tenants();
  Status count_certificate(Status read);
  void look_at_files(std::chrono::steady_clock::time_point now);
  std::array<net::tls::FileStamp, 2> stamp_credentials() const;
  std::chrono::milliseconds quiet_period() const;
  void listen();

  const ServiceOptions options_;
  const std::shared_ptr<Host> host_;
  const std::uint32_t forks_;
  std::shared_ptr<net::tls::ServerTls> tls_;
  std::chrono::steady_clock::time_point looked_at_files_ = std::chrono::steady_clock::now();  // of the timer
  std::array<net::tls::FileStamp, 2> credentials_seen_;                                       // of the timer
  Reloads reloads_;
  std::atomic<std::chrono::seconds> drain_timeout_;
  std::array<std::shared_ptr<ByteCounts>, kTransports> bytes_;
  std::vector<std::string> urls_;
  std::size_t connections_limit_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<std::chrono::steady_clock::time_point> ticked_ = std::chrono::steady_clock::now();
  std::unique_ptr<Parts> parts_;
};

}  // namespace burn::daemon
