// What a server has for its clients: devices, a session for each client, and a log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/serve/leases.h"
#include "proto/message.h"
#include "proto/served_session.h"

namespace burn::net {

enum class Severity : std::uint8_t { info, warning };

// Why a session is over: the client closed it; its connection was lost, and it has no lease; a frame broke a rule; the
// server ends; the client did not come back within the lease.
enum class SessionEnd : std::uint8_t { client, connection, rule, drain, lease };

// Thread-safe.
class SessionHost {
 public:
  SessionHost();
  SessionHost(const SessionHost&) = delete;
  SessionHost& operator=(const SessionHost&) = delete;
  virtual ~SessionHost() = default;

  // Names of what a client's hello may choose from, by position: "cpu", "cuda:0". At least one.
  virtual const std::vector<std::string>& devices() const = 0;
  // What a client is let in with; dropped when its session is gone.
  using Admission = std::shared_ptr<const void>;
  // Whether a client from `peer` (Channel::peer) that says this may have a session. Asked before anything is made for
  // it. Errors: UNAUTHENTICATED, RESOURCE_EXHAUSTED; the client is told, and its connection ends.
  virtual Result<Admission> admit(const proto::Hello& /*hello*/, const std::string& /*peer*/) { return Admission{}; }
  // Whether it may come back to a session that it has. Errors: UNAUTHENTICATED.
  virtual Status authenticate(const proto::Hello& /*hello*/) { return {}; }
  // The name of the device that this hello asks for: by its number, or one of devices() by name. Errors: NOT_FOUND with
  // the names there are.
  virtual Result<std::string> device_of(const proto::Hello& hello) const;
  // The session that this hello asks for, on that device. Never null; a session that cannot be opened says why by its
  // health(). Requires: device_of(hello) is ok, and the client is admitted.
  virtual std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) = 0;
  // What welcomes say of this server: "worker" or "router".
  virtual std::string_view role() const { return "worker"; }
  // 16 random bytes, by which this host is known whatever address it was reached at.
  std::string_view instance() const { return {instance_.data(), instance_.size()}; }
  // A line for the operator.
  virtual void log(Severity severity, std::string_view line) = 0;
  // The same for lines that a client causes before its handshake is done: a host may leave lines out.
  virtual void log_unauthenticated(std::string_view line) { log(Severity::info, line); }

  // For hosts that count. Called on threads of transports; must not block. A session was opened; one is over; a
  // connection has ended without a session, for the reason `why`.
  virtual void count_opened() {}
  virtual void count_closed(SessionEnd /*how*/) {}
  virtual void count_refused(SessionEnd /*how*/, const Status& /*why*/) {}

  // Sessions that outlive their connections: none before a limit is set.
  Leases& leases() { return leases_; }

 private:
  std::array<char, 16> instance_{};
  Leases leases_;
};

// The place in `devices` of the device that this hello asks for. Errors: NOT_FOUND with the names there are.
Result<std::uint32_t> find_device(const std::vector<std::string>& devices, const proto::Hello& hello);

}  // namespace burn::net
