// A loader of Vulkan that passes calls on to the system's, and fails those that it is told to (faults.h).
#include <cstring>
#include <mutex>
#include <vector>

#include "tests/backends/vulkan/faulty_loader/faults.h"
#include "tests/backends/vulkan/faulty_loader/queues.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

namespace {

burn::testing::VulkanFaults faults;
burn::testing::Queues queues(faults);

PFN_vkGetInstanceProcAddr real_loader() {
  static void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  static const auto find =
      library ? reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr")) : nullptr;
  return find;
}

VkInstance instance = VK_NULL_HANDLE;  // the only one
VkDevice device = VK_NULL_HANDLE;      // opened last
std::mutex submissions_mutex;          // held for each submission to the driver

// The system's function of that name.
#define REAL(name) reinterpret_cast<PFN_vk##name>(real_loader()(instance, "vk" #name))
#define OF_DEVICE(name) reinterpret_cast<PFN_vk##name>(REAL(GetDeviceProcAddr)(device, "vk" #name))

// Counts a call; whether it fails.
bool fails(std::atomic<std::int64_t>& count) {
  auto left = count.load();
  while (left > 0 && !count.compare_exchange_weak(left, left - 1)) {
  }
  return left == 0;
}

VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator, VkInstance* made) {
  const auto result = REAL(CreateInstance)(info, allocator, made);
  if (result == VK_SUCCESS) instance = *made;
  return result;
}

VkResult enumerate_physical_devices(VkInstance of, std::uint32_t* count, VkPhysicalDevice* devices) {
  std::uint32_t real_count = 0;
  if (const auto result = REAL(EnumeratePhysicalDevices)(of, &real_count, nullptr); result != VK_SUCCESS) return result;
  std::vector<VkPhysicalDevice> real(real_count);
  const auto result = REAL(EnumeratePhysicalDevices)(of, &real_count, real.data());
  const auto all = real_count * (1 + faults.devices);
  if (!devices) {
    *count = all;
    return result;
  }
  for (std::uint32_t k = 0; k < all && k < *count; ++k) devices[k] = real[k % real_count];
  return result;
}

void get_properties(VkPhysicalDevice of, VkPhysicalDeviceProperties2* properties) {
  REAL(GetPhysicalDeviceProperties2)(of, properties);
  if (faults.api != 0) properties->properties.apiVersion = faults.api;
}

void get_features(VkPhysicalDevice of, VkPhysicalDeviceFeatures2* features) {
  REAL(GetPhysicalDeviceFeatures2)(of, features);
  if (faults.lacks_f64) features->features.shaderFloat64 = VK_FALSE;
  if (faults.lacks_int64) features->features.shaderInt64 = VK_FALSE;
  if (faults.lacks_narrow) features->features.shaderInt16 = VK_FALSE;
  for (auto* next = static_cast<VkBaseOutStructure*>(features->pNext); next; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES && faults.lacks_narrow)
      reinterpret_cast<VkPhysicalDeviceVulkan11Features*>(next)->storageBuffer16BitAccess = VK_FALSE;
    if (next->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) continue;
    auto* const of_12 = reinterpret_cast<VkPhysicalDeviceVulkan12Features*>(next);
    if (faults.lacks_addresses) of_12->bufferDeviceAddress = VK_FALSE;
    if (faults.lacks_narrow) of_12->storageBuffer8BitAccess = of_12->shaderInt8 = VK_FALSE;
    if (faults.lacks_timelines) of_12->timelineSemaphore = VK_FALSE;
  }
}

VkResult create_device(VkPhysicalDevice of, const VkDeviceCreateInfo* info, const VkAllocationCallbacks* allocator,
                       VkDevice* made) {
  auto of_driver = *info;
  if (faults.has_copy_queue && info->queueCreateInfoCount > 1) of_driver.queueCreateInfoCount = 1;
  const auto result = REAL(CreateDevice)(of, &of_driver, allocator, made);
  if (result == VK_SUCCESS) device = *made;
  faults.is_lost = false;
  queues.clear();
  return result;
}

// --- a queue for copies ----------------------------------------------------------------------------------------------

void get_queue_families(VkPhysicalDevice of, std::uint32_t* count, VkQueueFamilyProperties* families) {
  REAL(GetPhysicalDeviceQueueFamilyProperties)(of, count, families);
  if (!faults.has_copy_queue) return;
  if (!families) {
    queues.copy_family = (*count)++;
  } else {
    families[queues.copy_family] = {.queueFlags = VK_QUEUE_TRANSFER_BIT, .queueCount = 1};
    *count = queues.copy_family + 1;
  }
}

void get_queue(VkDevice of, std::uint32_t family, std::uint32_t number, VkQueue* queue) {
  if (faults.has_copy_queue && family == queues.copy_family) {
    *queue = queues.copies();
    return;
  }
  OF_DEVICE(GetDeviceQueue)(of, family, number, queue);
  queues.work = *queue;
}

VkResult create_pool(VkDevice of, const VkCommandPoolCreateInfo* info, const VkAllocationCallbacks* allocator,
                     VkCommandPool* made) {
  auto of_driver = *info;
  if (faults.has_copy_queue && info->queueFamilyIndex == queues.copy_family) of_driver.queueFamilyIndex = 0;
  return OF_DEVICE(CreateCommandPool)(of, &of_driver, allocator, made);
}

VkResult create_buffer(VkDevice of, const VkBufferCreateInfo* info, const VkAllocationCallbacks* allocator,
                       VkBuffer* made) {
  auto of_driver = *info;
  if (faults.has_copy_queue) {
    of_driver.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    of_driver.queueFamilyIndexCount = 0;
  }
  return OF_DEVICE(CreateBuffer)(of, &of_driver, allocator, made);
}

VkResult create_semaphore(VkDevice of, const VkSemaphoreCreateInfo* info, const VkAllocationCallbacks* allocator,
                          VkSemaphore* made) {
  const auto result = OF_DEVICE(CreateSemaphore)(of, info, allocator, made);
  if (result == VK_SUCCESS) queues.forget(*made);
  return result;
}

// The error of a device that is lost. What is in use on such a device may be destroyed, but the driver beneath still
// works on what it was given: that is waited for. Caller must hold `submissions_mutex`.
VkResult wait_and_be_lost() {
  OF_DEVICE(DeviceWaitIdle)(device);
  return VK_ERROR_DEVICE_LOST;
}

VkResult lost() {
  const std::lock_guard lock(submissions_mutex);
  return wait_and_be_lost();
}

VkResult submit_all_to_driver(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  const std::lock_guard lock(submissions_mutex);
  return faults.is_lost ? wait_and_be_lost() : OF_DEVICE(QueueSubmit)(queue, count, infos, fence);
}

VkResult submit_to_driver(VkQueue queue, const VkSubmitInfo& info) {
  return submit_all_to_driver(queue, 1, &info, VK_NULL_HANDLE);
}

// --- calls that fail -------------------------------------------------------------------------------------------------

VkResult allocate_memory(VkDevice of, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks* allocator,
                         VkDeviceMemory* made) {
  if (faults.is_lost) return lost();
  return fails(faults.allocations) ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                   : OF_DEVICE(AllocateMemory)(of, info, allocator, made);
}

VkResult create_pipelines(VkDevice of, VkPipelineCache cache, std::uint32_t count,
                          const VkComputePipelineCreateInfo* infos, const VkAllocationCallbacks* allocator,
                          VkPipeline* made) {
  return fails(faults.pipelines) ? VK_ERROR_OUT_OF_HOST_MEMORY
                                 : OF_DEVICE(CreateComputePipelines)(of, cache, count, infos, allocator, made);
}

VkResult begin_commands(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
  return fails(faults.recordings) ? VK_ERROR_OUT_OF_HOST_MEMORY : OF_DEVICE(BeginCommandBuffer)(commands, info);
}

VkResult submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  if (fails(faults.submissions)) faults.is_lost = true;
  if (faults.is_lost) return lost();
  return faults.has_copy_queue ? queues.submit(queue, count, infos, submit_to_driver)
                               : submit_all_to_driver(queue, count, infos, fence);
}

VkResult get_counter(VkDevice of, VkSemaphore semaphore, std::uint64_t* value) {
  if (faults.is_lost || queues.release(submit_to_driver) != VK_SUCCESS) return lost();
  const auto result = OF_DEVICE(GetSemaphoreCounterValue)(of, semaphore, value);
  if (faults.is_stuck) *value = 0;
  return result;
}

VkResult wait_semaphores(VkDevice of, const VkSemaphoreWaitInfo* info, std::uint64_t timeout) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  if (faults.is_lost || queues.release(submit_to_driver) != VK_SUCCESS) return lost();
  const bool is_short = faults.is_stuck || faults.has_copy_queue;
  const auto result = OF_DEVICE(WaitSemaphores)(of, info, is_short ? kMillisecond : timeout);
  return faults.is_stuck ? VK_TIMEOUT : result;
}

PFN_vkVoidFunction wrapped(const char* name);

PFN_vkVoidFunction get_device_function(VkDevice of, const char* name) {
  auto* const known = wrapped(name);
  return known ? known : REAL(GetDeviceProcAddr)(of, name);
}

PFN_vkVoidFunction wrapped(const char* name) {
  struct Wrapped {
    const char* name;
    PFN_vkVoidFunction function;
  };
#define WRAPPED(name, function) \
  { "vk" #name, reinterpret_cast<PFN_vkVoidFunction>(static_cast<PFN_vk##name>(function)) }
  static const Wrapped all[] = {
      WRAPPED(CreateInstance, create_instance),
      WRAPPED(EnumeratePhysicalDevices, enumerate_physical_devices),
      WRAPPED(GetPhysicalDeviceProperties2, get_properties),
      WRAPPED(GetPhysicalDeviceFeatures2, get_features),
      WRAPPED(CreateDevice, create_device),
      WRAPPED(GetPhysicalDeviceQueueFamilyProperties, get_queue_families),
      WRAPPED(GetDeviceQueue, get_queue),
      WRAPPED(CreateCommandPool, create_pool),
      WRAPPED(CreateBuffer, create_buffer),
      WRAPPED(CreateSemaphore, create_semaphore),
      WRAPPED(AllocateMemory, allocate_memory),
      WRAPPED(CreateComputePipelines, create_pipelines),
      WRAPPED(BeginCommandBuffer, begin_commands),
      WRAPPED(QueueSubmit, submit),
      WRAPPED(GetSemaphoreCounterValue, get_counter),
      WRAPPED(WaitSemaphores, wait_semaphores),
      WRAPPED(GetDeviceProcAddr, get_device_function),
  };
#undef WRAPPED
  for (const auto& one : all) {
    if (std::strcmp(one.name, name) == 0) return one.function;
  }
  return nullptr;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] burn::testing::VulkanFaults* burn_vulkan_faults() { return &faults; }

extern "C" [[gnu::visibility("default")]] PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance of, const char* name) {
  if (!real_loader()) return nullptr;
  auto* const known = wrapped(name);
  return known ? known : real_loader()(of, name);
}
