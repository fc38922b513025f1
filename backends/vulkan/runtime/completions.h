// Functions that are called on the host once the device has come so far on a timeline.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/gpu/completion_thread.h"
#include "backends/vulkan/device/timeline.h"

namespace burn::backends::vulkan {

// add() is for the stream's own thread; what was added is called from another one, in order, each once.
class Completions {
  struct Point {
    std::uint64_t number;  // of the timeline
    Await beside;
  };

 public:
  using Body = CompletionThread<Point>::Body;

  // A timeline that computes holds commands back from now on.
  explicit Completions(std::shared_ptr<Timeline> timeline);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();  // after the last function

  // When everything that is enqueued on the timeline by now is done, and what is done beside it.
  void add(Body body, Await beside = {}) { thread_.add({timeline_->submitted(), std::move(beside)}, std::move(body)); }

 private:
  const std::shared_ptr<Timeline> timeline_;
  CompletionThread<Point> thread_;
};

}  // namespace burn::backends::vulkan
