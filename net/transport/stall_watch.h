// Whether a peer takes what is sent to it, as a transport that only sees its own writes can tell.
//
// Answers that wait are memory that a peer which asks and does not read makes us keep. So nothing more is read from it
// while more than kMaxQueuedBytes wait, and one that then takes less than kMinBytes within the time given, or does
// not take its end, is cut off. The same clock watches what comes: a message that is begun and not finished.
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

  // The peer's side has room for these now.
  void took(std::uint64_t bytes) { taken_ += bytes; }

  // To be asked about once a second. `is_waiting`: more than we want to keep waits for it; `is_ending`: there is an end
  // for it to take, for which what it takes before does not count.
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
