// A thread that performs a member's collectives, in order, while the thread of the run computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace burn::backends {

// Thread-safe, but for the end. The thread is started with the first work.
class CollectiveThread {
 public:
  CollectiveThread() = default;
  CollectiveThread(const CollectiveThread&) = delete;
  CollectiveThread& operator=(const CollectiveThread&) = delete;
  ~CollectiveThread();  // after all that was begun is done

  // Does `work`, which throws nothing, behind what was begun before. Its number. Throws std::system_error where no
  // thread is to be had; nothing is begun then.
  std::uint64_t begin(std::function<void()> work);
  // Until the work of that number, and all before it, is done.
  void wait(std::uint64_t number);
  // Until all is done that was begun.
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
