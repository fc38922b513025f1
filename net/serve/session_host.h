// What a server provides for its clients: devices, a session for each client, and a log.
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

// The client's end of a connection, as the transport knows it.
struct Caller {
  std::string address;  // Channel::peer()
  proto::PeerSecurity security = {};
};

// The tenant that a client belongs to, and how the client has proved it.
struct Identity {
  std::string tenant = "default";
  std::string proof = "none";  // "token 1f2e3d4c" (of its SHA-256), "certificate cn:alice"
};

// The result of admitting a client.
struct Admission {
  std::shared_ptr<const void> permit = nullptr;  // held until its session is destroyed
  Identity identity = {};
  std::optional<std::chrono::seconds> max_lease = std::nullopt;  // std::nullopt: the limit of the host's leases
};

// An event in the life of a session, for the audit log.
struct SessionEvent {
  enum class Kind : std::uint8_t { opened, resumed, refused, closed };
  Kind kind = Kind::opened;
  std::string_view session = {};       // its name; empty if refused
  const Identity* identity = nullptr;  // null: not known
  std::string_view peer = {}, client = {}, device = {}, reason = {};
  const proto::SessionStats* stats = nullptr;  // of a closed session
};

enum class Severity : std::uint8_t { info, warning };

// Why a session ended: the client closed it; its connection was lost, and it has no lease; a frame broke a rule; the
// server shuts down; the client did not return within the lease.
enum class SessionEnd : std::uint8_t { client, connection, rule, drain, lease };

// Thread-safe.
class SessionHost {
 public:
  SessionHost();
  SessionHost(const SessionHost&) = delete;
  SessionHost& operator=(const SessionHost&) = delete;
  virtual ~SessionHost() = default;

  // Names of the devices that a client's hello may choose by position: "cpu", "cuda:0". At least one.
  virtual const std::vector<std::string>& devices() const = 0;
  // Whether the client of this hello may have a session. Called before anything is allocated for it. Errors:
  // UNAUTHENTICATED, PERMISSION_DENIED, RESOURCE_EXHAUSTED; the client is told, and its connection ends.
  virtual Result<Admission> admit(const proto::Hello& /*hello*/, const Caller& /*caller*/) { return Admission{}; }
  // The identity of a client that resumes a session, which must belong to the same tenant. Errors: UNAUTHENTICATED,
  // PERMISSION_DENIED.
  virtual Result<Identity> authenticate(const proto::Hello& /*hello*/, const Caller& /*caller*/) { return Identity{}; }
  // The name of the device that this hello asks for: by its number, or one of devices() by name. Errors: NOT_FOUND with
  // the names of the devices.
  virtual Result<std::string> device_of(const proto::Hello& hello) const;
  // Opens the session that this hello asks for, on that device. Never null; a session that cannot be opened reports why
  // by its health(). Requires: device_of(hello) is ok, and the client is admitted.
  virtual std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) = 0;
  // The same, for hosts that treat tenants differently.
  virtual std::unique_ptr<proto::ServedSession> open_session_of(const proto::Hello& hello,
                                                                const Identity& /*identity*/) {
    return open_session(hello);
  }
  // The role of this server in welcomes: "worker" or "router".
  virtual std::string_view role() const { return "worker"; }
  // 16 random bytes that identify this host at any address.
  std::string_view instance() const { return {instance_.data(), instance_.size()}; }
  // Whether new sessions are refused because the server will shut down.
  virtual bool is_draining() const { return false; }
  // URLs, one of each scheme, at which clients reach this very server to resume; empty: the address they used before.
  virtual std::vector<std::string> advertised() const { return {}; }
  // Writes a log line for the operator.
  virtual void log(Severity severity, std::string_view line) = 0;
  // The same for lines that a client causes before its handshake is done; a host may drop some.
  virtual void log_unauthenticated(std::string_view line) { log(Severity::info, line); }

  // For hosts that keep an audit log or counts. Called on threads of transports; must not block. count_opened(): a
  // session was opened; count_closed(): one has ended; count_refused(): a connection has ended without a session, for
  // `why`.
  virtual void audit(const SessionEvent& /*event*/) {}
  virtual void count_opened() {}
  virtual void count_closed(SessionEnd /*how*/) {}
  virtual void count_refused(SessionEnd /*how*/, const Status& /*why*/) {}

  // Sessions that may outlive their connections; no session may until a limit is set.
  Leases& leases() { return leases_; }

 private:
  std::array<char, 16> instance_{};
  Leases leases_;
};

// The index in `devices` of the device that this hello asks for. Errors: NOT_FOUND with the names of the devices.
Result<std::uint32_t> find_device(const std::vector<std::string>& devices, const proto::Hello& hello);

}  // namespace burn::net
