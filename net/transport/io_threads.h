// Threads that move sockets, each with its own event loop. Asio itself stays in the .cc files.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace burn::net {

using IoContext = boost::asio::io_context;

class IoThreads {
 public:
  // One at once, up to `most` as there are sockets for them: a socket that has a loop to itself waits for no other's
  // megabytes. Fewer where the system has no more. Throws std::system_error where there is not one.
  explicit IoThreads(int most);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  // Waits until whatever runs on the contexts has come to its end. Requires: not from one of the threads.
  ~IoThreads();

  // The loop that serves the fewest: a socket stays with it, so its handlers never run side by side. Thread-safe.
  std::shared_ptr<IoContext> next();
  // Always the same. Thread-safe.
  std::shared_ptr<IoContext> first();
  // Runs `work` on one of the threads, later. Thread-safe.
  void post(std::function<void()> work);

 private:
  struct Loop {
    std::shared_ptr<IoContext> context;
    std::shared_ptr<void> work;  // keeps the loop running while it has nothing to do
    std::thread thread;
  };
  void start_one();
  static long users_of(const Loop& loop);

  const int most_;
  std::mutex mutex_;  // over loops_, which only grow
  std::vector<Loop> loops_;
};

}  // namespace burn::net
