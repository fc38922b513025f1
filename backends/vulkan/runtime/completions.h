// What is to happen on the host when the device has come so far: a thread that waits for a timeline, and hands in the
// commands that it holds back.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "backends/vulkan/device/timeline.h"

namespace burn::backends::vulkan {

// add() is for the stream's own thread; what was added is called from another one, in order, each once.
class Completions {
 public:
  using Body = std::function<void(const Status& device)>;  // the failure of the device itself, if it has one

  // A timeline that computes holds commands back from now on.
  explicit Completions(std::shared_ptr<Timeline> timeline);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions();  // after the last one

  // When everything that is enqueued on the timeline by now is done, and what is done beside it.
  void add(Body body, Await beside = {});

 private:
  struct Item {
    std::uint64_t number;  // of the timeline
    Await beside;
    Body body;
  };
  void add(Item item);
  void work();

  const std::shared_ptr<Timeline> timeline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace burn::backends::vulkan
