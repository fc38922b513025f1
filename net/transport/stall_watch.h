// Detects a peer that does not read what is sent to it, for a transport that only sees its own writes.
//
// A peer that asks questions and does not read the answers makes this end hold them in memory. So reading from it stops
// while more than kMaxQueuedBytes wait. If it then reads less than kMinBytes within the timeout, or does not read the
// end, it is disconnected. The same clock watches incoming data: a message that is begun and not finished.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace burn::net {

inline constexpr std::size_t kMaxQueuedBytes = std::size_t{16} << 20;
inline constexpr std::string_view kDoesNotRead = "the peer does not read what it asked for";

// Not thread-safe.
class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kMinBytes = std::uint64_t{64} << 10;

  // The peer has made room for `bytes` more.
  void took(std::uint64_t bytes) { taken_ += bytes; }

  // Called about once a second. `is_waiting`: more data waits for the peer than should be held; `is_ending`: the end of
  // the connection waits for it, and bytes that it reads before that do not count.
  bool is_stalled(Clock::time_point now, bool is_ending, bool is_waiting, Clock::duration timeout) {
    if (!is_waiting) {
      since_.reset();
      return false;
    }
    if (!since_ || is_ending != was_ending_ || (!is_ending && taken_ - taken_then_ >= kMinBytes)) {
      since_ = now;
      taken_then_ = taken_;
      was_ending_ = is_ending;
    }
    return now - *since_ >= timeout;
  }

 private:
  std::uint64_t taken_ = 0, taken_then_ = 0;
  std::optional<Clock::time_point> since_;
  bool was_ending_ = false;
};

}  // namespace burn::net
