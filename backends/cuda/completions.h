// What is to happen on the host when the device has come so far: a thread that waits for a stream's events in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cuda/driver.h"

namespace burn::backends::cuda {

// add() is for the stream's own thread; what was added is called from another one, in order, each once.
class Completions {
 public:
  using Body = std::function<void(const Status& device)>;  // the failure of the device itself, if it has one

  Completions(CUcontext context, CUstream stream);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();  // after the last one

  // When everything that is enqueued on the stream by now is done.
  void add(Body body);

 private:
  struct Item {
    CUevent event;
    Body body;
  };

  void work();
  static Status wait(CUevent event);
  CUevent take_event();

  const CUcontext context_;
  const CUstream stream_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::vector<CUevent> free_events_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace burn::backends::cuda
