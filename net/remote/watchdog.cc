#include "net/remote/watchdog.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/thread.h"

namespace burn::net {
namespace {

using Clock = std::chrono::steady_clock;

class Watchdog {
 public:
  // Starts a thread that never ends, so the object must never be destroyed.
  Watchdog() {
    start_thread("burn-watchdog", [this] { run(); }).detach();
  }

  void add(std::weak_ptr<Watched> watched, std::chrono::milliseconds interval) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({std::move(watched), interval, Clock::now() + interval});
    changed_.notify_all();
  }

 private:
  struct Entry {
    std::weak_ptr<Watched> watched;
    std::chrono::milliseconds interval;
    Clock::time_point due;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::erase_if(entries_, [](const Entry& entry) { return entry.watched.expired(); });
      if (entries_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto next = std::ranges::min_element(entries_, {}, &Entry::due);
      const auto now = Clock::now();
      if (const auto due = next->due; due > now) {
        changed_.wait_until(lock, due);  // `due` is a copy: entries move when another is added
        continue;
      }
      next->due = now + next->interval;
      auto watched = next->watched.lock();
      lock.unlock();
      if (watched) watched->check_timeouts(now);
      watched.reset();  // it may be the last owner, and its destructor must run without the lock
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> entries_;
};

}  // namespace

void watch(std::weak_ptr<Watched> watched, std::chrono::milliseconds interval) {
  static auto& watchdog = *new OnePerProcess<Watchdog>;
  watchdog.get().add(std::move(watched), interval);
}

}  // namespace burn::net
