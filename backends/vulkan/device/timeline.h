// How far the device has come with what one stream has enqueued on one queue: each submission has a number, one more
// than the last.
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

// That another queue has come so far.
struct Await {
  std::shared_ptr<Timeline> of;  // null: nothing is waited for
  std::uint64_t number = 0;
};

// submit() from one thread at a time, the rest from any.
class Timeline {
 public:
  static Result<std::shared_ptr<Timeline>> open(std::shared_ptr<Device> device, Queue queue = Queue::compute);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  Queue queue() const { return queue_; }
  std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }  // the last number
  // Whether the device has done all up to this number; true of a device that is lost.
  bool is_reached(std::uint64_t number) const;
  // Errors: UNAVAILABLE where the device is lost.
  Status wait(std::uint64_t number);
  // Commands after those before. Between two batches a device pauses for some ten microseconds, so while it has two
  // batches to do, commands are held back and handed to it together, if there is a watcher. `after`: what the device
  // waits for before these commands and those behind them; always of the same timeline, and handed in there. Errors: of
  // commands that were not taken; the number stays what it was.
  Status submit(VkCommandBuffer commands, Await after = {});
  // Hands in what is held back up to this number, and returns the number that the device signals when it has done all
  // up to it: another queue may wait for that. Errors: as submit()'s; what was held back still is.
  Result<std::uint64_t> hand_in(std::uint64_t number);

  // Told a number whenever commands begin to be held back: once the device has reached it, hand_in_if_due() has to be
  // called. Before the first submission; without a watcher commands are never held back.
  void set_watcher(std::function<void(std::uint64_t number)> watcher);
  // Hands in what is held back, if the device has less than two batches to do.
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
  // The first number that the device signals of those from here on. Requires: it has been handed in.
  std::uint64_t signal_of(std::uint64_t number);
  // Caller must hold `mutex_`.
  bool is_due();
  Status hand_in_all();
  // Hands in all up to this number. Gives up after a second of errors, and says that the device is lost.
  void hand_in_up_to(std::uint64_t number);

  const std::shared_ptr<Device> device_;
  const Queue queue_;
  const VkSemaphore semaphore_;
  std::function<void(std::uint64_t)> watcher_;
  std::atomic<std::uint64_t> submitted_ = 0, handed_in_ = 0;
  std::mutex mutex_;                     // held while a batch is handed in, so that numbers rise
  std::vector<Held> held_;               // those of the numbers after `handed_in_`
  std::uint64_t awaited_ = 0;            // of the other timeline: what was handed in waits for it, or saw it done
  std::deque<std::uint64_t> in_flight_;  // the last number of each submission that the device may be at
  std::deque<std::uint64_t> signals_;    // the last numbers of their batches, which the device signals
};

}  // namespace burn::backends::vulkan
