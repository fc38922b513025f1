// Threads that move sockets, each with its own event loop. Asio itself stays in the .cc files.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace burn::net {

using IoContext = boost::asio::io_context;

class IoThreads {
 public:
  // Fewer where the system has no more. Throws std::system_error where there is not one.
  explicit IoThreads(int threads);
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;
  // Waits until whatever runs on the contexts has come to its end. Requires: not from one of the threads.
  ~IoThreads();

  // The contexts in turn: a socket stays with one, so its handlers never run side by side. Thread-safe.
  const std::shared_ptr<IoContext>& next();
  const std::shared_ptr<IoContext>& first() const { return loops_.front().context; }
  // Runs `work` on one of the threads, later. Thread-safe.
  void post(std::function<void()> work);

 private:
  struct Loop {
    std::shared_ptr<IoContext> context;
    std::shared_ptr<void> work;  // keeps the loop running while it has nothing to do
    std::thread thread;
  };
  std::vector<Loop> loops_;
  std::atomic<std::size_t> turn_ = 0;
};

}  // namespace burn::net
