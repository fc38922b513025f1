// One device of this process, opened: its queue, its memory, the pipelines that are made for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
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

// Whether uploads are copied beside what the device computes (uploads.h).
enum class UploadOverlap : std::uint8_t {
  none,
  own_queue,  // where the device has a queue for copies
  any_queue,  // also where it has none: on a second queue that computes, or on the only one
};

// How much of a device may be used, in bytes, beside what its driver allows; and which of its queues.
struct DeviceLimits {
  std::uint64_t allocation = std::numeric_limits<std::uint64_t>::max();  // at once
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();      // at one time: BURN_DEVICE_MEMORY
  bool is_written_by_host = true;  // false: not even what the host could write (Device::written_pages())
  UploadOverlap uploads = UploadOverlap::own_queue;

  static DeviceLimits from_environment();
};

enum class Queue : std::uint8_t { compute, copies };

// Commands that a queue is handed together. They, and what it is handed later, wait until the semaphore has come to a
// value, if there is one; the timeline of the submission comes to `value` when they are done.
struct Batch {
  std::span<const VkCommandBuffer> commands;
  std::uint64_t value = 0;
  VkSemaphore awaited = VK_NULL_HANDLE;
  std::uint64_t awaited_value = 0;
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

  // Whether uploads are copied on Queue::copies; else in the order of the computation.
  bool copies_beside() const { return copies_.has_value(); }
  std::uint32_t family(Queue queue) const;

  // Hands batches to a queue, in their order: all or none. Errors: as check()'s.
  Status submit(Queue queue, std::span<const Batch> batches, VkSemaphore timeline);

  // A result of a call, as check() has it; a device that is lost is so for good.
  Status note(VkResult result, const char* what);
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  Status lost() const;  // why it cannot be used: requires that it is lost
  // Of a driver that takes no commands any more.
  void lose() { is_lost_ = true; }

 private:
  // A queue by its family and its number there.
  struct QueueAt {
    std::uint32_t family = 0, number = 0;
  };

  Device(int index, Adapter adapter, VkDevice device, const std::optional<QueueAt>& copies);
  // The queue that copies uploads beside the computation; nullopt: none does.
  static std::optional<QueueAt> find_copies(const Adapter& adapter, UploadOverlap uploads);
  static Result<VkDevice> make(const Adapter& adapter, const std::optional<QueueAt>& copies);
  Status start(const DeviceLimits& limits);
  Status start_memory(const DeviceLimits& limits);

  const int index_;
  const Adapter adapter_;
  const VkDevice device_;
  const DeviceFunctions vk_;
  const std::optional<QueueAt> copies_;
  VkQueue queue_ = VK_NULL_HANDLE, copy_queue_ = VK_NULL_HANDLE;  // may be the same
  std::mutex queue_mutex_, copy_mutex_;
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
