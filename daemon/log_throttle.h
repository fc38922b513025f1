// Limits how often one kind of line is logged: unauthenticated clients can cause such lines as fast as they can
// connect.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace burn::daemon {

// Thread-safe.
class LogThrottle {
 public:
  using Clock = std::chrono::steady_clock;

  // At most `max_lines` lines are written in each `period`, which starts with the first of them.
  LogThrottle(std::size_t max_lines, Clock::duration period) : max_lines_(max_lines), period_(period) {}

  // Returns true if a line at time `now` may be written; otherwise counts it as suppressed. Call take_suppressed()
  // first.
  bool admit(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    if (is_over(now)) begin_ = now, written_ = 0;
    if (written_ < max_lines_) return ++written_, true;
    ++suppressed_;
    return false;
  }

  // Returns how many lines were suppressed in the last period, once, after that period has ended. 0 if there were none
  // or the period has not ended.
  std::uint64_t take_suppressed(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    if (suppressed_ == 0 || !is_over(now)) return 0;
    written_ = 0;
    begin_ = now;
    const auto count = suppressed_;
    suppressed_ = 0;
    return count;
  }

 private:
  // Caller must hold `mutex_`.
  bool is_over(Clock::time_point now) const { return now - begin_ >= period_; }

  const std::size_t max_lines_;
  const Clock::duration period_;
  std::mutex mutex_;
  Clock::time_point begin_{};     // Guarded by `mutex_`.
  std::size_t written_ = 0;       // Guarded by `mutex_`.
  std::uint64_t suppressed_ = 0;  // Guarded by `mutex_`.
};

}  // namespace burn::daemon
