#include "backends/collective/collective_thread.h"

#include <utility>

#include "base/thread.h"

namespace burn::backends {

CollectiveThread::~CollectiveThread() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t CollectiveThread::begin(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = start_thread("burn-collective", [this] { run(); });
  works_.push_back(std::move(work));
  changed_.notify_all();
  return ++begun_;
}

void CollectiveThread::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= number; });
}

void CollectiveThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ == begun_; });
}

void CollectiveThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_over_ || !works_.empty(); });
    if (works_.empty()) return;
    auto work = std::move(works_.front());
    works_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // its captures are destroyed before it counts as done
    lock.lock();
    ++done_;
    changed_.notify_all();
  }
}

}  // namespace burn::backends
