// A device with a queue for copies, over a driver whose device has none. Both queues are the driver's one: what comes
// to a queue that is held is done when the other queue waits for it, and no sooner, so that what nothing waits for is
// late.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "tests/backends/vulkan/faulty_loader/faults.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

namespace burn::testing {

// Thread-safe. Of a backend that awaits and signals one timeline semaphore at most with each batch.
class Queues {
 public:
  using Submit = std::function<VkResult(VkQueue, const VkSubmitInfo&)>;  // the driver's

  explicit Queues(VulkanFaults& faults) : faults_(faults) {}

  std::uint32_t copy_family = 1;  // the number of the family that is added to the driver's
  VkQueue work = VK_NULL_HANDLE;  // the driver's queue
  // The queue of that family: no driver knows it.
  VkQueue copies() { return reinterpret_cast<VkQueue>(&copy_queue_); }

  // Errors: the driver's; VK_ERROR_UNKNOWN for a batch that awaits what was not handed in before, which would hold up
  // its queue.
  VkResult submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, const Submit& driver);
  // Executes the batches that are no longer held. Errors: those of submit().
  VkResult release(const Submit& driver);
  // Resets the state, for a device that was just opened.
  void clear();
  // To be called for a new semaphore: a destroyed one may have had the same handle.
  void forget(VkSemaphore semaphore);

 private:
  struct Batch {
    std::vector<VkCommandBuffer> commands;
    VkSemaphore awaited = VK_NULL_HANDLE, signalled = VK_NULL_HANDLE;
    std::uint64_t awaited_value = 0, value = 0;
  };
  using Waiting = std::deque<Batch>;

  // Caller must hold `mutex_`.
  VkResult release_held(const Submit& driver);
  VkResult do_first(Waiting& of, const Submit& driver);
  VkResult do_until(VkSemaphore semaphore, std::uint64_t value, const Submit& driver);

  VulkanFaults& faults_;
  std::mutex mutex_;
  Waiting work_, copies_;
  std::map<VkSemaphore, std::uint64_t> done_;  // what was handed to the driver
  char copy_queue_ = 0;
};

}  // namespace burn::testing
