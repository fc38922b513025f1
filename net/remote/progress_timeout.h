// How long a client waits for a server that is reachable, and what counts as progress of the server.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace burn::net {

// Checked periodically, each time with the progress since the last check. Not thread-safe.
class ProgressTimeout {
 public:
  using Clock = std::chrono::steady_clock;

  // Least rate for a tensor sent or received in pieces: a slower server counts as silent. A tensor of n bytes may
  // therefore take n / kMinBytesPerSecond longer than the limit.
  static constexpr std::uint64_t kMinBytesPerSecond = 2048;

  struct Seen {
    bool is_waiting = false;    // the client waits for something
    bool is_connected = false;  // time without a connection counts separately
    bool progress = false;      // something awaited has arrived completely
    std::uint64_t bytes = 0;    // bytes of something awaited that is not complete
  };

  // `limit`: longest time without progress; 0: none.
  explicit ProgressTimeout(std::chrono::milliseconds limit) : limit_(limit) {}

  // Whether the client should give up. `lease`: total time without a connection that is not counted between two signs
  // of progress; it is limited because a server that takes the client back again and again without progress is as bad
  // as a silent one.
  bool is_over(Clock::time_point now, const Seen& seen, std::chrono::milliseconds lease) {
    const auto passed = now - std::exchange(looked_at_, now);
    const bool was_waiting = std::exchange(was_waiting_, seen.is_waiting);
    if (seen.progress || !seen.is_waiting || !was_waiting) {
      progress_at_ = now;
      lost_ = {};
      return false;
    }
    if (!seen.is_connected) {
      const auto uncounted = std::min<Clock::duration>(passed, std::max<Clock::duration>(lease - lost_, {}));
      lost_ += uncounted;
      progress_at_ += uncounted;
    }
    constexpr std::uint64_t kMax = std::uint64_t{1} << 40;  // bytes; far from overflow
    const auto worth = std::chrono::duration<double>(static_cast<double>(std::min(seen.bytes, kMax)) /
                                                     static_cast<double>(kMinBytesPerSecond));
    progress_at_ = std::min(now, progress_at_ + std::chrono::duration_cast<Clock::duration>(worth));
    return limit_.count() > 0 && now - progress_at_ >= limit_;
  }

 private:
  const std::chrono::milliseconds limit_;
  bool was_waiting_ = false;
  Clock::time_point progress_at_, looked_at_;
  Clock::duration lost_{};  // uncounted time without a connection since the last progress
};

}  // namespace burn::net
