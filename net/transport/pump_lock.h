// A mutex whose holder also does what others came for meanwhile.
//
// When two threads start operations on one connection at a time, gRPC passes the second to a thread of its own, and
// that change of threads costs more than the operation. So the first does both.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace burn::net {

// Thread-safe. Lockable by std::lock_guard.
class PumpLock {
 public:
  explicit PumpLock(std::function<void()> pump) : pump_(std::move(pump)) {}

  void lock() { mutex_.lock(); }
  void unlock() {
    mutex_.unlock();
    if (wanted_) pump();
  }

  // Calls the function given with the lock held: at once, or the thread that has the lock does when it is through.
  void pump() {
    wanted_ = true;
    while (wanted_ && mutex_.try_lock()) {
      if (wanted_.exchange(false)) pump_();
      mutex_.unlock();
    }
  }

 private:
  const std::function<void()> pump_;
  std::mutex mutex_;
  std::atomic<bool> wanted_ = false;
};

}  // namespace burn::net
