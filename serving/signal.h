// The condition variable that an executor waits on.
#pragma once

#include <condition_variable>
#include <mutex>

namespace burn::serving {

// Signals the end of an upload, progress of the device, and the end of the session. Thread-safe.
class SessionSignal {
 public:
  void close() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
    }
    changed_.notify_all();
  }
  // Call after a change of a condition that wait() may be waiting for.
  void notify() {
    { const std::lock_guard lock{mutex_}; }  // a thread in wait() has now either seen the change or begun to wait
    changed_.notify_all();
  }
  // Waits until is_so() or the session closes. False: it closed.
  template <typename Condition>
  bool wait(const Condition& is_so) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return closed_ || is_so(); });
    return is_so();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
};

}  // namespace burn::serving
