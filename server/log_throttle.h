// Bounds how often a line of one kind is logged: strangers cause such lines as fast as they can connect.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace burn::server {

// Thread-safe.
class LogThrottle {
 public:
  using Clock = std::chrono::steady_clock;

  // `most`: lines that are written in each `period`, which begins with the first of them.
  LogThrottle(std::size_t most, Clock::duration period) : most_(most), period_(period) {}

  // Whether a line that comes now is to be written. If not it is counted. To be called after take_left_out().
  bool admit(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    if (is_over(now)) begin_ = now, written_ = 0;
    if (written_ < most_) return ++written_, true;
    ++left_out_;
    return false;
  }

  // How many were left out of a period that is over, said once; 0: none, or it goes on.
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
  bool is_over(Clock::time_point now) const { return now - begin_ >= period_; }  // Requires: the lock.

  const std::size_t most_;
  const Clock::duration period_;
  std::mutex mutex_;
  Clock::time_point begin_{};
  std::size_t written_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace burn::server
