// What became of clients since the process began, for an operator.
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
  version,   // the client speaks another version of the protocol, or begins with another frame than a hello
  no_hello,  // in time
  draining,
  session,   // there is none of that name to come back to, or no such device
  protocol,  // what came could not be read
  left,      // the client did, or its connection was lost
  tenant,    // is disabled, or not the session's, or may not use the device
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
