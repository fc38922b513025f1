// Vulkan's validation layer (BURN_VULKAN_VALIDATION=on): checks every call, and the kernels that drivers are handed.
#pragma once

#include "backends/vulkan/driver/vulkan.h"

namespace burn::backends::vulkan {

// What an instance is made with so that its calls are checked: its address goes into VkInstanceCreateInfo::pNext, and
// it has to live until the instance is made. What the layer says, and what the loader says of it, is printed to stderr
// and ends the process: a message means that the backend is wrong.
class Validation {
 public:
  Validation();
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;

  // Adds the layer and its extension. Errors: FAILED_PRECONDITION where the layer is not installed.
  Status add_to(VkInstanceCreateInfo& info, const InstanceFunctions& functions) const;
  // From now on messages about calls of this instance are taken, too.
  Status watch(VkInstance instance, PFN_vkGetInstanceProcAddr find) const;

 private:
  VkDebugUtilsMessengerCreateInfoEXT messenger_;
  VkValidationFeaturesEXT features_;
};

}  // namespace burn::backends::vulkan
