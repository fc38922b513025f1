// Threads that serve sockets, each with its own event loop. Asio's headers are included in .cc files only.
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
  // Starts one thread, and more up to `most` as there are sockets for them: a socket with a loop of its own does not
  // wait for the megabytes of others. Fewer if the system allows no more. Throws std::system_error if not even one
  // starts.
  explicit IoThreads(int most);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  // Waits until all work on the loops has ended. Requires: not called on one of the threads.
  ~IoThreads();

  // The loop with the fewest sockets. A socket stays with its loop, so its handlers never run concurrently.
  // Thread-safe.
  std::shared_ptr<IoContext> next();
  // Always the same loop. Thread-safe.
  std::shared_ptr<IoContext> first();
  // Runs `work` later, on one of the threads. Thread-safe.
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
  std::mutex mutex_;  // guards loops_, which only grows
  std::vector<Loop> loops_;
};

}  // namespace burn::net
