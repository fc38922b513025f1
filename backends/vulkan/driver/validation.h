// Vulkan's validation layer (BURN_VULKAN_VALIDATION=on), which checks every call and the kernels given to drivers.
#pragma once

#include "backends/vulkan/driver/vulkan.h"

namespace burn::backends::vulkan {

// Enables the layer for an instance: the address of this object's structures goes into VkInstanceCreateInfo::pNext, so
// it must live until the instance is made. A message of the layer, or of the loader about the layer, is printed to
// stderr and ends the process: it means that the backend is wrong.
class Validation {
 public:
  Validation();
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;

  // Adds the layer and its extension. Errors: FAILED_PRECONDITION if the layer is not installed.
  Status add_to(VkInstanceCreateInfo& info, const InstanceFunctions& functions) const;
  // Reports messages about this instance's calls from now on, too.
  Status watch(VkInstance instance, PFN_vkGetInstanceProcAddr find) const;

 private:
  VkDebugUtilsMessengerCreateInfoEXT messenger_;
  VkValidationFeaturesEXT features_;
};

}  // namespace burn::backends::vulkan
