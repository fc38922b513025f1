// Functions that are called on the host once the device has reached a point on a timeline.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/gpu/completion_thread.h"
#include "backends/vulkan/device/timeline.h"

namespace burn::backends::vulkan {

// add() must be called by the stream's thread; the functions are called by another thread, in order, each once.
class Completions {
  struct Point {
    std::uint64_t number;  // of the timeline
    Await beside;
  };

 public:
  using Body = CompletionThread<Point>::Body;

  // From now on a timeline of the compute queue holds commands back.
  explicit Completions(std::shared_ptr<Timeline> timeline);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();  // returns after the last function

  // Calls `body` when everything that is enqueued on the timeline by now is done, and the point on the other timeline
  // is reached.
  void add(Body body, Await beside = {}) { thread_.add({timeline_->submitted(), std::move(beside)}, std::move(body)); }

 private:
  const std::shared_ptr<Timeline> timeline_;
  CompletionThread<Point> thread_;
};

}  // namespace burn::backends::vulkan
