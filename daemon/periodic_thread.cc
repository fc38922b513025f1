#include "daemon/periodic_thread.h"

#include <exception>
#include <utility>

#include "base/thread.h"

namespace burn::daemon {

PeriodicThread::PeriodicThread(const char* name, Task task)
    : task_(std::move(task)), thread_(start_thread(name, [this] { run(); })) {}

PeriodicThread::~PeriodicThread() { stop(); }

void PeriodicThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    is_stopping_ = true;
    stopping_.notify_all();
  }
  thread_.join();
}

void PeriodicThread::run() {
  std::unique_lock lock{mutex_};
  while (!is_stopping_) {
    std::chrono::milliseconds pause = std::chrono::seconds{1};
    lock.unlock();
    try {
      pause = task_();
    } catch (const std::exception&) {  // probably out of memory: try again later
    }
    lock.lock();
    stopping_.wait_for(lock, pause, [&] { return is_stopping_; });
  }
}

}  // namespace burn::daemon
