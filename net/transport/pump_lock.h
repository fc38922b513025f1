// A mutex whose holder also does the work that other threads requested meanwhile.
//
// When two threads start operations on one connection at a time, gRPC passes the second operation to a thread of its
// own, and that thread switch costs more than the operation. So the first thread does both.
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

  // Calls the pump function with the lock held: now, or on the thread that holds the lock when it unlocks.
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
