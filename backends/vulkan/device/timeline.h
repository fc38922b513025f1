// How far the device has come with what one stream has enqueued: each submission has a number, one more than the last.
#pragma once

#include <atomic>
#include <memory>

#include "backends/vulkan/device/device.h"

namespace burn::backends::vulkan {

// submit() from one thread at a time, the rest from any.
class Timeline {
 public:
  static Result<std::shared_ptr<Timeline>> open(std::shared_ptr<Device> device);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  Device& device() const { return *device_; }
  std::uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }  // the last number
  // Whether the device has done all up to this number; true of a device that is lost.
  bool is_reached(std::uint64_t number) const;
  // Errors: UNAVAILABLE where the device is lost.
  Status wait(std::uint64_t number) const;
  Status submit(VkCommandBuffer commands);

 private:
  Timeline(std::shared_ptr<Device> device, VkSemaphore semaphore) : device_(std::move(device)), semaphore_(semaphore) {}

  const std::shared_ptr<Device> device_;
  const VkSemaphore semaphore_;
  std::atomic<std::uint64_t> submitted_ = 0;
};

}  // namespace burn::backends::vulkan
