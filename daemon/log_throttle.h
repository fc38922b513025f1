// Bounds how often a line of one kind is logged: clients that are not authenticated cause such lines as fast as they
// can connect.
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

  // At most `max_lines` lines are written in each `period`, which begins with the first of them.
  LogThrottle(std::size_t max_lines, Clock::duration period) : max_lines_(max_lines), period_(period) {}

  // Whether a line at time `now` is to be written; counts it if not. Call take_left_out() before.
  bool admit(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    if (is_over(now)) begin_ = now, written_ = 0;
    if (written_ < max_lines_) return ++written_, true;
    ++left_out_;
    return false;
  }

  // How many lines a period that is over has left out; returned once. 0: none, or the period is not over.
  std::uint64_t take_left_out(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    if (left_out_ == 0 || !is_over(now)) return 0;
    written_ = 0;
    begin_ = now;
    const auto count = left_out_;
    left_out_ = 0;
    return count;
  }

 private:
  // Caller must hold `mutex_`.
  bool is_over(Clock::time_point now) const { return now - begin_ >= period_; }

  const std::size_t max_lines_;
  const Clock::duration period_;
  std::mutex mutex_;
  Clock::time_point begin_{};   // Guarded by `mutex_`.
  std::size_t written_ = 0;     // Guarded by `mutex_`.
  std::uint64_t left_out_ = 0;  // Guarded by `mutex_`.
};

}  // namespace burn::daemon
