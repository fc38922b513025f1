// A thread that calls a function again and again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace burn::daemon {

// Thread-safe.
class PeriodicThread {
 public:
  // Returns after how long it wants to be called again.
  using Task = std::function<std::chrono::milliseconds()>;

  // Calls `task` at once and then after the times that it returns; a second later where it throws a std::exception, as
  // it may for want of memory. `name`: 15 characters at most. Errors (thrown): std::system_error for no thread.
  PeriodicThread(const char* name, Task task);
  ~PeriodicThread();  // stop()
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

  // Waits for a call that is under way, and ends the thread. Idempotent. To be called by one thread at a time.
  void stop();

 private:
  void run();

  const Task task_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool is_stopping_ = false;  // Guarded by `mutex_`.
  std::thread thread_;
};

}  // namespace burn::daemon
