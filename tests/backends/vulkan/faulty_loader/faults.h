// What the loader of these tests does wrong when it is told to. It passes every call on to the system's loader, so that
// without faults it is as good as that.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#include <dlfcn.h>

namespace burn::testing {

// Counts go down with each call; when one has come to 0, calls fail. Negative: they never do.
struct VulkanFaults {
  std::atomic<std::uint32_t> api = 0;      // of the devices, VK_MAKE_API_VERSION(); 0: as it is
  std::atomic<std::uint32_t> devices = 0;  // how many times each device is listed, less one
  std::atomic<bool> lacks_addresses = false, lacks_timelines = false, lacks_f64 = false;
  std::atomic<bool> lacks_int64 = false, lacks_narrow = false;  // whole numbers of 64 bits; of 8 and 16
  std::atomic<std::int64_t> allocations = -1;                   // until the device has no more memory
  std::atomic<std::int64_t> pipelines = -1;                     // until there is no memory for a pipeline
  std::atomic<std::int64_t> recordings = -1;                    // until there is no memory for commands
  std::atomic<std::int64_t> submissions = -1;  // until the device is lost, as it is until it is opened again
  std::atomic<bool> is_lost = false;
  std::atomic<bool> is_stuck = false;  // the device does not respond
  // The device has a queue for copies (queues.h); what comes to it, or to the queue that computes, is held until the
  // other queue waits for it; how many batches came to it.
  std::atomic<bool> has_copy_queue = false, holds_copies = false, holds_work = false;
  std::atomic<std::int64_t> copies = 0;

  // Resets all faults and counts.
  void clear() {
    api = devices = 0;
    has_copy_queue = holds_copies = holds_work = false;
    copies = 0;
    lacks_addresses = lacks_timelines = lacks_f64 = lacks_int64 = lacks_narrow = is_lost = is_stuck = false;
    allocations = pipelines = recordings = submissions = -1;
  }
};

// Those of this process. Throws std::runtime_error where BURN_VULKAN_LOADER is another loader.
inline VulkanFaults& vulkan_faults() {
  const char* path = std::getenv("BURN_VULKAN_LOADER");  // NOLINT(concurrency-mt-unsafe): no thread writes it
  auto* const library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  auto* const get = library ? reinterpret_cast<VulkanFaults* (*)()>(dlsym(library, "burn_vulkan_faults")) : nullptr;
  if (!get) throw std::runtime_error("BURN_VULKAN_LOADER does not name the loader of the tests");
  return *get();
}

}  // namespace burn::testing
