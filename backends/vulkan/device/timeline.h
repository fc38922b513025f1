// Tracks the progress of the device through what one stream has enqueued on one queue: each submission has a number,
// one more than the previous one.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/vulkan/device/device.h"

namespace burn::backends::vulkan {

class Timeline;

// A point on the timeline of another queue that commands wait for.
struct Await {
  std::shared_ptr<Timeline> of;  // null: nothing is waited for
  std::uint64_t number = 0;
};

// submit() must be called from one thread at a time, the rest from any thread.
class Timeline {
 public:
  static Result<std::shared_ptr<Timeline>> open(std::shared_ptr<Device> device, Queue queue = Queue::compute);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  Queue queue() const { return queue_; }
  // The number of the last submission.
  std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  // Whether the device has done everything up to this number; true if the device is lost.
  bool is_reached(std::uint64_t number) const;
  // Errors: UNAVAILABLE if the device is lost.
  Status wait(std::uint64_t number);
  // Enqueues commands after all earlier ones. Between two batches a device pauses for some ten microseconds, so while
  // it has two batches in flight, commands are held back and submitted as one batch, if there is a watcher. `after`: a
  // point that the device waits for before these commands and all later ones; always on the same other timeline, and
  // handed in there. Errors: the commands were not accepted; the number is unchanged.
  Status submit(VkCommandBuffer commands, Await after = {});
  // Submits held-back commands up to this number to the queue, and returns the number that the device signals when it
  // has done all of them: another queue can wait for that. Errors: as submit()'s; commands that were held back still
  // are.
  Result<std::uint64_t> hand_in(std::uint64_t number);

  // Called with the timeline value that held-back commands wait for; the caller must call hand_in_if_due() once the
  // device reaches it. Set before the first submission; without a watcher commands are never held back.
  void set_watcher(std::function<void(std::uint64_t number)> watcher);
  // Submits held-back commands if the device has fewer than two batches in flight.
  void hand_in_if_due();

 private:
  static constexpr std::size_t kMaxInFlight = 2;  // batches
  static constexpr std::size_t kMaxHeld = 8;      // command buffers

  struct Held {
    VkCommandBuffer commands;
    Await after;
  };

  Timeline(std::shared_ptr<Device> device, Queue queue, VkSemaphore semaphore)
      : device_(std::move(device)), queue_(queue), semaphore_(semaphore) {}
  // The first number from `number` on that the device signals. Requires: it has been handed in.
  std::uint64_t signal_of(std::uint64_t number);
  // Caller must hold `mutex_`.
  bool is_due();
  Status hand_in_all();
  // Submits everything up to this number. If that fails for a second, gives up and marks the device as lost.
  void hand_in_up_to(std::uint64_t number);

  const std::shared_ptr<Device> device_;
  const Queue queue_;
  const VkSemaphore semaphore_;
  std::function<void(std::uint64_t)> watcher_;
  std::atomic<std::uint64_t> submitted_ = 0, handed_in_ = 0;
  std::mutex mutex_;        // held while a batch is submitted, so that numbers rise
  std::vector<Held> held_;  // the commands with numbers after `handed_in_`
  // On the other timeline: submitted commands wait for this number, or it was seen to be reached.
  std::uint64_t awaited_ = 0;
  std::deque<std::uint64_t> in_flight_;  // the last number of each submission that the device may still be executing
  std::deque<std::uint64_t> signals_;    // the last numbers of its batches, which the device signals
};

}  // namespace burn::backends::vulkan
