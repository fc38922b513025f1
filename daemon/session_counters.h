// Counters of how clients' connections and sessions ended since the process started, for an operator.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "net/serve/session_host.h"

namespace burn::daemon {

// Why a connection ended without a session.
enum class Refusal : std::uint8_t {
  token,     // unknown, or missing
  limit,     // of sessions, of connections, or of memory
  version,   // the client uses another protocol version, or its first frame is not a hello
  no_hello,  // the client did not send one in time
  draining,
  session,   // there is no session of that name to resume, or no such device
  protocol,  // invalid data was received
  left,      // the client disconnected, or its connection was lost
  tenant,    // the tenant is disabled, not the session's owner, or may not use the device
};
inline constexpr std::size_t kRefusals = 9, kSessionEnds = 5;

Refusal refusal_of(net::SessionEnd how, const Status& why);

// Thread-safe.
class SessionCounters {
 public:
  void count_opened() { add(opened_); }
  void count_closed(net::SessionEnd how) { add(closed_[static_cast<std::size_t>(how)]); }
  void count_refused(net::SessionEnd how, const Status& why) {
    add(refused_[static_cast<std::size_t>(refusal_of(how, why))]);
  }

  std::uint64_t opened() const { return opened_.load(std::memory_order_relaxed); }
  std::uint64_t closed(net::SessionEnd how) const {
    return closed_[static_cast<std::size_t>(how)].load(std::memory_order_relaxed);
  }
  std::uint64_t refused(Refusal why) const {
    return refused_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }

 private:
  using Counter = std::atomic<std::uint64_t>;
  static void add(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

  Counter opened_ = 0;
  std::array<Counter, kSessionEnds> closed_{};
  std::array<Counter, kRefusals> refused_{};
};

}  // namespace burn::daemon
