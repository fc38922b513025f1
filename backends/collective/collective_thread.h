// A thread that performs a member's collectives, in order, while the run's thread computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace burn::backends {

// Thread-safe except for the destructor. The thread is started with the first work.
class CollectiveThread {
 public:
  CollectiveThread() = default;
  CollectiveThread(const CollectiveThread&) = delete;
  CollectiveThread& operator=(const CollectiveThread&) = delete;
  ~CollectiveThread();  // waits until all work is done

  // Queues `work`, which must not throw, after all earlier work, and returns its number. Throws std::system_error if no
  // thread can be started; nothing is queued then.
  std::uint64_t begin(std::function<void()> work);
  // Waits until the work of that number, and all work before it, is done.
  void wait(std::uint64_t number);
  // Waits until all queued work is done.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> works_;
  std::uint64_t begun_ = 0, done_ = 0;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace burn::backends
