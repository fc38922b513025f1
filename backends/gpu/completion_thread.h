// Functions that are called on the host once a device has reached a point of its work.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/status.h"
#include "base/thread.h"

namespace burn::backends {

// A thread that waits for points of a device's work in the order in which they were added, and calls each point's
// function once the device has reached it. add() may be called by any thread.
template <typename Point>
class CompletionThread {
 public:
  using Body = std::function<void(const Status& device)>;  // `device`: the failure of the device itself, if it has one
  // Waits until the device has reached the point, and returns the device's failure if it has one. Called on the thread.
  using Wait = std::function<Status(const Point&)>;

  // `name`: of the thread, 15 characters at most. `prepare`: called on the thread first.
  CompletionThread(const char* name, Wait wait, std::function<void()> prepare = {})
      : wait_(std::move(wait)), thread_(start_thread(name, [this, prepare = std::move(prepare)] {
          if (prepare) prepare();
          work();
        })) {}
  CompletionThread(const CompletionThread&) = delete;
  CompletionThread& operator=(const CompletionThread&) = delete;
  // Waits until the last function has returned.
  ~CompletionThread() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void add(Point point, Body body) {
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      is_first = items_.empty();
      items_.emplace_back(std::move(point), std::move(body));
    }
    if (is_first) changed_.notify_one();  // with items in the queue the thread is awake
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !items_.empty() || is_ending_; });
      if (items_.empty()) return;
      std::optional item = std::move(items_.front());
      items_.pop_front();
      lock.unlock();
      const auto& [point, body] = *item;
      body(wait_(point));
      item.reset();  // what it owns is freed without the lock held
      lock.lock();
    }
  }

  const Wait wait_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Point, Body>> items_;
  bool is_ending_ = false;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace burn::backends
