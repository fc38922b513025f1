// A thread that calls a function periodically.
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
  // Returns the time until the next call.
  using Task = std::function<std::chrono::milliseconds()>;

  // Calls `task` immediately and then after the delays that it returns; one second later if it throws a std::exception,
  // as it may when memory is short. `name`: 15 characters at most. Errors (thrown): std::system_error if the thread
  // cannot be started.
  PeriodicThread(const char* name, Task task);
  ~PeriodicThread();  // stop()
  PeriodicThread(const PeriodicThread&) = delete;
  PeriodicThread& operator=(const PeriodicThread&) = delete;

  // Waits for the current call to finish, and ends the thread. Idempotent. Only one thread may call it at a time.
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
