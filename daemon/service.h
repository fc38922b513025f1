// The service of a daemon: listens, accepts connections, admits clients, ends what is overdue, and drains at the end. A
// daemon consists of a Host, which has the devices and opens the sessions, and a main() that runs a Service for it.
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
  bool is_connected = false;  // if false, it waits for its client within its lease
  std::chrono::steady_clock::duration age{0};
  std::uint64_t resumes = 0;
  proto::SessionStats stats;
};

enum class Transport : std::uint8_t { websocket, grpc, unix_socket, grpc_unix };
inline constexpr std::size_t kTransports = 4;

// Serves from construction to stop(). Thread-safe.
class Service {
 public:
  // Reads the files of host->admission(), opens the audit log, starts the service's threads and listens. Throws Error:
  // INVALID_ARGUMENT for an advertised URL that is not a TCP one; those of ServerTls::open(); UNAVAILABLE for an
  // address in use; INVALID_ARGUMENT for an invalid address, or if there is no address at all; FAILED_PRECONDITION for
  // an address that other machines can reach, without a token file or `insecure`; those of AdmissionControl::reload().
  Service(const ServiceOptions& options, std::shared_ptr<Host> host);
  // Calls stop(). Does nothing in a child of fork(), which has none of the threads.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // "ws://127.0.0.1:3000", with the actual ports. At least one.
  const std::vector<std::string>& urls() const;
  // The number of connections that are not disposed of yet.
  std::size_t connections() const;
  std::size_t connections_limit() const { return connections_limit_; }
  // The number of sessions that have not ended, or have ended but not freed their memory yet.
  std::size_t sessions() const;
  std::size_t sessions_limit() const { return options_.sessions; }
  // Null if TLS is not used.
  net::tls::ServerTls* tls() const { return tls_.get(); }
  // The status that reload_credentials() and reload_certificate() would return; changes nothing. `what`, if not null,
  // is set to the part that the status is about: "credentials" or "certificate".
  Status check_files(std::string_view* what = nullptr) const;
  // Applies the options that can change while the service runs: session_lease, for new sessions, drain_timeout and
  // audit_required.
  void change(const OptionValues& values);
  std::chrono::seconds drain_timeout() const { return drain_timeout_; }
  // Reads tokens and tenants again; on an error nothing changes. Ends the sessions of tenants that are disabled or no
  // longer listed. Errors: those of AdmissionControl::reload().
  Status reload_credentials();
  // Reads the certificate again; does nothing without TLS. Errors: those of ServerTls::reload().
  Status reload_certificate();
  // Ends a session that has a connection; its client is told that an operator closed it. Errors: NOT_FOUND.
  Status close_session(std::string_view name);
  // The sessions that have not ended, sorted by memory in use, largest first.
  std::vector<SessionView> session_views() const;
  struct Reloads {
    std::atomic<std::uint64_t> credentials = 0, credentials_refused = 0, certificate = 0, certificate_refused = 0;
    std::atomic<std::uint64_t> config = 0, config_refused = 0;
  };
  const Reloads& reloads() const { return reloads_; }
  Reloads& reloads() { return reloads_; }
  // The byte counts of one listener; null if that transport is not offered.
  const ByteCounts* bytes(Transport transport) const { return bytes_[static_cast<std::size_t>(transport)].get(); }
  // True after stop() was called.
  bool is_stopping() const { return is_stopping_; }
  // True if the timer thread, which enforces deadlines, is more than kMaxPause late.
  bool is_stuck(std::chrono::steady_clock::time_point now) const;
  static constexpr std::chrono::seconds kMaxPause{30};

  // Refuses new sessions and gives clients that support notices up to drain_timeout to end theirs. Meanwhile executes
  // and answers what other clients have sent; then tells all clients that the server is shutting down, and closes.
  // Finally waits for what is being executed, however long it takes. Idempotent. Does nothing in a child of fork().
  void stop();

 private:
  struct Parts;
  bool is_forked() const;
  std::chrono::milliseconds tick();
  void end_sessions_of_gone_tenants();
  Status count_certificate(Status read);
  void reload_changed_files(std::chrono::steady_clock::time_point now);
  std::array<net::tls::FileStamp, 2> stamp_credentials() const;
  std::chrono::milliseconds quiet_period() const;
  void listen();

  const ServiceOptions options_;
  const std::shared_ptr<Host> host_;
  const std::uint32_t forks_;
  std::shared_ptr<net::tls::ServerTls> tls_;
  std::chrono::steady_clock::time_point files_checked_at_ = std::chrono::steady_clock::now();  // of the timer
  std::array<net::tls::FileStamp, 2> credentials_seen_;                                        // of the timer
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
