// Functions that are called on the host once a CUDA stream has reached a point.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "backends/cuda/driver/events.h"
#include "backends/gpu/completion_thread.h"

namespace burn::backends::cuda {

// add() must be called by the stream's thread; the functions are called by another thread, in order, each once.
class Completions {
  struct Point {
    Result<Event> event;
    bool is_awaited;
  };

 public:
  using Body = CompletionThread<Point>::Body;

  Completions(CUcontext context, CUstream stream, std::shared_ptr<Events> events);

  // Calls `body` when everything that is enqueued on the stream by now is done.
  void add(Body body) { add(std::move(body), events_->record(stream_)); }
  // Calls `body` when the event is reached, which may be on another stream.
  void add(Body body, Result<Event> event) { thread_.add({std::move(event), false}, std::move(body)); }
  // The same, if a thread is waiting for the call.
  void add_awaited(Body body) {
    ++awaited_;
    thread_.add({events_->record(stream_), true}, std::move(body));
  }

 private:
  Status wait(const Result<Event>& event) const;

  const CUstream stream_;
  const std::shared_ptr<Events> events_;
  std::atomic<int> awaited_ = 0;  // points that a thread waits for and the device has not reached
  CompletionThread<Point> thread_;
};

}  // namespace burn::backends::cuda
