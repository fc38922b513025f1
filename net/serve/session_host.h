// What a server has for its clients: devices, a session for each client, and a log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
  SessionHost() = default;
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
  // The session that this hello asks for, on the device that it names. Never null; a session that cannot be opened says
  // why by its health(). Requires: hello.device < devices().size(), and that the client is admitted.
  virtual std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) = 0;
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
  Leases leases_;
};

}  // namespace burn::net
