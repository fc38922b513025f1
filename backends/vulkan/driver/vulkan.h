// The functions of Vulkan, loaded at run time: nothing of Vulkan is linked, so that the same binaries start without it.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include "base/status.h"

namespace burn::backends::vulkan {

// Functions that need no instance, functions of an instance, and functions of a device.
#define BURN_VULKAN_GLOBAL(FN) \
  FN(CreateInstance)           \
  FN(EnumerateInstanceVersion) \
  FN(EnumerateInstanceLayerProperties)
#define BURN_VULKAN_INSTANCE(FN)             \
  FN(EnumeratePhysicalDevices)               \
  FN(GetPhysicalDeviceProperties2)           \
  FN(GetPhysicalDeviceFeatures2)             \
  FN(GetPhysicalDeviceMemoryProperties2)     \
  FN(GetPhysicalDeviceQueueFamilyProperties) \
  FN(EnumerateDeviceExtensionProperties)     \
  FN(CreateDevice)                           \
  FN(GetDeviceProcAddr)
#define BURN_VULKAN_DEVICE(FN)    \
  FN(DestroyDevice)               \
  FN(GetDeviceQueue)              \
  FN(DeviceWaitIdle)              \
  FN(AllocateMemory)              \
  FN(FreeMemory)                  \
  FN(MapMemory)                   \
  FN(CreateBuffer)                \
  FN(DestroyBuffer)               \
  FN(GetBufferMemoryRequirements) \
  FN(BindBufferMemory)            \
  FN(GetBufferDeviceAddress)      \
  FN(CreateShaderModule)          \
  FN(DestroyShaderModule)         \
  FN(CreatePipelineLayout)        \
  FN(DestroyPipelineLayout)       \
  FN(CreatePipelineCache)         \
  FN(DestroyPipelineCache)        \
  FN(GetPipelineCacheData)        \
  FN(CreateComputePipelines)      \
  FN(DestroyPipeline)             \
  FN(CreateCommandPool)           \
  FN(DestroyCommandPool)          \
  FN(AllocateCommandBuffers)      \
  FN(FreeCommandBuffers)          \
  FN(BeginCommandBuffer)          \
  FN(EndCommandBuffer)            \
  FN(CmdBindPipeline)             \
  FN(CmdPushConstants)            \
  FN(CmdDispatch)                 \
  FN(CmdCopyBuffer)               \
  FN(CmdFillBuffer)               \
  FN(CmdPipelineBarrier)          \
  FN(QueueSubmit)                 \
  FN(CreateQueryPool)             \
  FN(DestroyQueryPool)            \
  FN(CmdResetQueryPool)           \
  FN(CmdWriteTimestamp)           \
  FN(GetQueryPoolResults)         \
  FN(CreateSemaphore)             \
  FN(DestroySemaphore)            \
  FN(GetSemaphoreCounterValue)    \
  FN(WaitSemaphores)

struct InstanceFunctions {
#define FN(name) PFN_vk##name name = nullptr;
  BURN_VULKAN_GLOBAL(FN)
  BURN_VULKAN_INSTANCE(FN)
#undef FN
};

// The functions of one device, called without the loader's dispatch.
struct DeviceFunctions {
#define FN(name) PFN_vk##name name = nullptr;
  BURN_VULKAN_DEVICE(FN)
#undef FN

  explicit DeviceFunctions(VkDevice device);
};

// The loader and the instance of this process, opened at the first call and kept. Errors: FAILED_PRECONDITION with what
// is missing: the loader, a newer version of it, a driver.
const Status& load_vulkan();
// Require: load_vulkan() succeeded.
const InstanceFunctions& instance_functions();
VkInstance vulkan_instance();
// An instance function of an extension; null if no driver has it.
PFN_vkVoidFunction find_instance_function(const char* name);
// The loader's version, as VK_MAKE_API_VERSION() encodes it.
std::uint32_t loader_version();

// Converts the result of a call to a Status: RESOURCE_EXHAUSTED if memory was short, UNAVAILABLE if the device is lost,
// otherwise INTERNAL. `what`: the purpose of the call.
Status check(VkResult result, const char* what);
const char* name_of(VkResult result);

}  // namespace burn::backends::vulkan
