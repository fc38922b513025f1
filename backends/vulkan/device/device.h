// One device of this process, opened: its queue, its memory, the pipelines that are made for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "backends/vulkan/device/pages.h"
#include "backends/vulkan/driver/adapters.h"

namespace burn::compile {
class GroupMemo;
}

namespace burn::backends {
class Autotune;
}

namespace burn::backends::vulkan {

class DeviceMemory;
class Pipelines;

// How much of a device may be used, in bytes, beside what its driver allows.
struct DeviceLimits {
  std::uint64_t allocation = std::numeric_limits<std::uint64_t>::max();  // at once
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();      // at one time: BURN_DEVICE_MEMORY
  bool is_written_by_host = true;  // false: not even what the host could write (Device::written_pages())

  static DeviceLimits from_environment();
};

// Thread-safe.
class Device {
 public:
  // Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::shared_ptr<Device>> open(int index, const DeviceLimits& limits);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  int index() const { return index_; }
  const Adapter& adapter() const { return adapter_; }
  const compile::DeviceFacts& facts() const { return adapter_.facts; }
  VkDevice handle() const { return device_; }
  const DeviceFunctions& vk() const { return vk_; }

  Pages& memory() { return *memory_; }          // of the device
  Pages& host_pages() { return *host_pages_; }  // that the host and the device see
  // Memory of the device that the host can write, for little that each run reads; beside the limit of the device's
  // memory. Null: the device has none.
  Pages* written_pages() { return written_pages_.get(); }
  DeviceMemory& buffers() { return *buffers_; }  // of streams
  Pipelines& pipelines() { return *pipelines_; }
  compile::GroupMemo& groups() { return *groups_; }
  // Of alternatives; null: nothing is timed, without BURN_AUTOTUNE=on.
  Autotune* choices() { return choices_.get(); }

  // Hands commands to the queue, which signals that the timeline has come to `value` when all are done. Errors: as
  // check()'s.
  Status submit(std::span<const VkCommandBuffer> commands, VkSemaphore timeline, std::uint64_t value);

  // A result of a call, as check() has it; a device that is lost is so for good.
  Status note(VkResult result, const char* what);
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  Status lost() const;  // why it cannot be used: requires that it is lost
  // Of a driver that takes no commands any more.
  void lose() { is_lost_ = true; }

 private:
  Device(int index, Adapter adapter, VkDevice device);
  Status start(const DeviceLimits& limits);

  const int index_;
  const Adapter adapter_;
  const VkDevice device_;
  const DeviceFunctions vk_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::mutex queue_mutex_;
  std::unique_ptr<Pages> memory_, host_pages_, written_pages_;
  std::unique_ptr<DeviceMemory> buffers_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<compile::GroupMemo> groups_;
  std::unique_ptr<Autotune> choices_;
  std::atomic<bool> is_lost_ = false;
};

// The devices that can be opened; 0 without a loader or driver.
int device_count();

}  // namespace burn::backends::vulkan
