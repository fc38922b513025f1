// What is to happen on the host when the device has come so far: a thread that waits for events in order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "backends/cuda/driver/events.h"

namespace burn::backends::cuda {

// add() is for the stream's own thread; what was added is called from another one, in order, each once.
class Completions {
 public:
  using Body = std::function<void(const Status& device)>;  // the failure of the device itself, if it has one

  Completions(CUcontext context, CUstream stream, std::shared_ptr<Events> events);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();  // after the last one

  // When everything that is enqueued on the stream by now is done.
  void add(Body body) { add(std::move(body), events_->record(stream_)); }
  // When an event is, which may be one of another stream.
  void add(Body body, Result<Event> event) { add({std::move(event), std::move(body), false}); }
  // The same for what somebody is waiting for.
  void add_awaited(Body body) { add({events_->record(stream_), std::move(body), true}); }

 private:
  struct Item {
    Result<Event> event;
    Body body;
    bool is_awaited;
  };

  void add(Item item);
  void work();
  Status wait(const Result<Event>& event) const;

  const CUcontext context_;
  const CUstream stream_;
  const std::shared_ptr<Events> events_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::atomic<int> awaited_ = 0;  // of the items and the one that is waited for
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace burn::backends::cuda
