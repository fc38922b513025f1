// What a server has for its clients: devices, a session for each client, and a log.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/serve/leases.h"
#include "proto/channel.h"
#include "proto/message.h"
#include "proto/served_session.h"

namespace burn::net {

// The other end of a connection, as its transport knows it.
struct Caller {
  std::string address;  // Channel::peer()
  proto::PeerSecurity security = {};
};

// Of which tenant a client is, and by what it has proved that.
struct Identity {
  std::string tenant = "default";
  std::string proof = "none";  // "token 1f2e3d4c" (of its SHA-256), "certificate cn:alice"
};

// What a client is let in with.
struct Admission {
  std::shared_ptr<const void> permit = nullptr;  // until its session is gone
  Identity identity = {};
  std::optional<std::chrono::seconds> max_lease = std::nullopt;  // nothing: as the host's leases have it
};

// What is told of sessions to be kept.
struct SessionEvent {
  enum class Kind : std::uint8_t { opened, resumed, refused, closed };
  Kind kind = Kind::opened;
  std::string_view session = {};       // its name; of a refused one empty
  const Identity* identity = nullptr;  // null: it is not known
  std::string_view peer = {}, client = {}, device = {}, reason = {};
  const proto::SessionStats* stats = nullptr;  // of a closed one
};

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
  // Whether a client that says this may have a session. Asked before anything is made for it. Errors: UNAUTHENTICATED,
  // PERMISSION_DENIED, RESOURCE_EXHAUSTED; the client is told, and its connection ends.
  virtual Result<Admission> admit(const proto::Hello& /*hello*/, const Caller& /*caller*/) { return Admission{}; }
  // Which client it is, that may come back to a session of the same tenant. Errors: UNAUTHENTICATED, PERMISSION_DENIED.
  virtual Result<Identity> authenticate(const proto::Hello& /*hello*/, const Caller& /*caller*/) { return Identity{}; }
  // The name of the device that this hello asks for: by its number, or one of devices() by name. Errors: NOT_FOUND with
  // the names there are.
  virtual Result<std::string> device_of(const proto::Hello& hello) const;
  // The session that this hello asks for, on that device. Never null; a session that cannot be opened says why by its
  // health(). Requires: device_of(hello) is ok, and the client is admitted.
  virtual std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) = 0;
  // The same for hosts that treat tenants differently.
  virtual std::unique_ptr<proto::ServedSession> open_session_of(const proto::Hello& hello,
                                                                const Identity& /*identity*/) {
    return open_session(hello);
  }
  // What welcomes say of this server: "worker" or "router".
  virtual std::string_view role() const { return "worker"; }
  // 16 random bytes, by which this host is known whatever address it was reached at.
  std::string_view instance() const { return {instance_.data(), instance_.size()}; }
  // Whether new sessions are refused because the server is to end.
  virtual bool is_draining() const { return false; }
  // URLs by which clients come back to this very server, one of each scheme; none: as they came.
  virtual std::vector<std::string> advertised() const { return {}; }
  // A line for the operator.
  virtual void log(Severity severity, std::string_view line) = 0;
  // The same for lines that a client causes before its handshake is done: a host may leave lines out.
  virtual void log_unauthenticated(std::string_view line) { log(Severity::info, line); }

  // For hosts that count. Called on threads of transports; must not block. A session was opened; one is over; a
  // connection has ended without a session, for the reason `why`.
  virtual void audit(const SessionEvent& /*event*/) {}
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
