// One open device of this process: its queues, its memory, and the pipelines made for it.
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

// Whether uploads are copied while the device computes (uploads.h).
enum class UploadOverlap : std::uint8_t {
  none,
  own_queue,  // if the device has a queue for copies
  any_queue,  // also if it has none: on a second compute queue, or on the only one
};

// Limits on the use of a device, in bytes, in addition to its driver's limits; and which of its queues are used.
struct DeviceLimits {
  std::uint64_t allocation = std::numeric_limits<std::uint64_t>::max();  // of one allocation
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();      // in all: BURN_DEVICE_MEMORY
  bool is_written_by_host = true;  // false: Device::written_pages() is not used either
  UploadOverlap uploads = UploadOverlap::own_queue;

  static DeviceLimits from_environment();
};

enum class Queue : std::uint8_t { compute, copies };

// Commands that are submitted to a queue together. They, and all later submissions to that queue, wait until the
// semaphore `awaited` has reached its value, if there is one; the timeline of the submission reaches `value` when they
// are done.
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

  Pages& memory() { return *memory_; }          // device memory
  Pages& host_pages() { return *host_pages_; }  // host memory that the device can access
  // Device memory that the host can write, for the small tables that each run reads; not counted in the limit of the
  // device's memory. Null: the device has none.
  Pages* written_pages() { return written_pages_.get(); }
  DeviceMemory& buffers() { return *buffers_; }  // the memory of all streams' buffers
  Pipelines& pipelines() { return *pipelines_; }
  compile::GroupMemo& groups() { return *groups_; }
  // The choices between timed alternatives; null: nothing is timed, as BURN_AUTOTUNE is not on.
  Autotune* choices() { return choices_.get(); }

  // Whether uploads are copied on Queue::copies while the device computes; otherwise they are copied in order with the
  // computation.
  bool overlaps_uploads() const { return copies_.has_value(); }
  std::uint32_t family(Queue queue) const;

  // Submits batches to a queue, in order: all of them or none. Errors: as check()'s.
  Status submit(Queue queue, std::span<const Batch> batches, VkSemaphore timeline);

  // Converts the result of a Vulkan call like check(), and marks the device as lost, for good, if the call says so.
  Status check_result(VkResult result, const char* what);
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  Status lost() const;  // why it cannot be used. Requires: it is lost
  // Marks the device as lost, for a driver that no longer accepts commands.
  void lose() { is_lost_ = true; }

 private:
  // A queue's family and its number in the family.
  struct QueueIndex {
    std::uint32_t family = 0, number = 0;
  };

  Device(int index, Adapter adapter, VkDevice device, const std::optional<QueueIndex>& copies);
  // The queue that copies uploads while the device computes; std::nullopt: uploads are not copied so.
  static std::optional<QueueIndex> find_copy_queue(const Adapter& adapter, UploadOverlap uploads);
  static Result<VkDevice> make(const Adapter& adapter, const std::optional<QueueIndex>& copies);
  Status start(const DeviceLimits& limits);
  Status start_memory(const DeviceLimits& limits);

  const int index_;
  const Adapter adapter_;
  const VkDevice device_;
  const DeviceFunctions vk_;
  const std::optional<QueueIndex> copies_;
  VkQueue queue_ = VK_NULL_HANDLE, copy_queue_ = VK_NULL_HANDLE;  // may be the same queue
  std::mutex queue_mutex_, copy_mutex_;
  std::unique_ptr<Pages> memory_, host_pages_, written_pages_;
  std::unique_ptr<DeviceMemory> buffers_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<compile::GroupMemo> groups_;
  std::unique_ptr<Autotune> choices_;
  std::atomic<bool> is_lost_ = false;
};

// The number of devices that can be opened; 0 without a loader or driver.
int device_count();

}  // namespace burn::backends::vulkan
