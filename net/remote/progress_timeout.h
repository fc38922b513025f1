// How long a client waits for a server that is there, and what it takes for a sign that the server gets on.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace burn::net {

// Looked at now and then, each time with what has come since. Not thread-safe.
class ProgressTimeout {
 public:
  using Clock = std::chrono::steady_clock;

  // Of a tensor that comes or goes in pieces: a server that takes longer for them is as good as silent. A tensor of n
  // bytes is therefore waited for for n / kMinBytesPerSecond beyond the limit at most.
  static constexpr std::uint64_t kMinBytesPerSecond = 2048;

  struct Seen {
    bool is_waiting = false;    // for anything
    bool is_connected = false;  // a lost connection is counted apart
    bool progress = false;      // something that was waited for has come whole
    std::uint64_t bytes = 0;    // of a part of it
  };

  // `limit`: without progress; 0: none.
  explicit ProgressTimeout(std::chrono::milliseconds limit) : limit_(limit) {}

  // Whether it is to be given up. `lease`: for how long connections may be lost, in all, between two signs of progress
  // without counting: a server that takes the client back again and again and does nothing else is no better than one
  // that is silent.
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
    constexpr std::uint64_t kMax = std::uint64_t{1} << 40;  // bytes; leaves room to count in
    const auto worth = std::chrono::duration<double>(static_cast<double>(std::min(seen.bytes, kMax)) /
                                                     static_cast<double>(kMinBytesPerSecond));
    progress_at_ = std::min(now, progress_at_ + std::chrono::duration_cast<Clock::duration>(worth));
    return limit_.count() > 0 && now - progress_at_ >= limit_;
  }

 private:
  const std::chrono::milliseconds limit_;
  bool was_waiting_ = false;
  Clock::time_point progress_at_, looked_at_;
  Clock::duration lost_{};  // of connections, since the last progress
};

}  // namespace burn::net
