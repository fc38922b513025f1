#include "backends/vulkan/driver/validation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace burn::backends::vulkan {
namespace {

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";
constexpr const char* kExtension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
constexpr VkValidationFeatureEnableEXT kSynchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;

VKAPI_ATTR VkBool32 VKAPI_CALL end_process(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                           const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  std::fprintf(stderr, "Vulkan: the validation layer says: %s\n", data->pMessage);
  std::abort();
}

}  // namespace

// Leaves out the loader's warnings about drivers that do not start: they are no fault of the calls.
Validation::Validation()
    : messenger_{.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                 .messageSeverity =
                     VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                 .messageType =
                     VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
                 .pfnUserCallback = end_process},
      features_{.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                .pNext = &messenger_,
                .enabledValidationFeatureCount = 1,
                .pEnabledValidationFeatures = &kSynchronization} {}

Status Validation::add_to(VkInstanceCreateInfo& info, const InstanceFunctions& functions) const {
  std::uint32_t count = 0;
  functions.EnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  const auto result = functions.EnumerateInstanceLayerProperties(&count, layers.data());
  const auto is_it = [](const auto& layer) { return std::strcmp(layer.layerName, kLayer) == 0; };
  if (result != VK_SUCCESS || std::ranges::none_of(layers, is_it))
    return failed_precondition(
        "Vulkan: BURN_VULKAN_VALIDATION=on, but VK_LAYER_KHRONOS_validation is not there (Debian's package "
        "vulkan-validationlayers)");
  info.pNext = &features_;
  info.enabledLayerCount = 1;
  info.ppEnabledLayerNames = &kLayer;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &kExtension;
  return {};
}

// The messenger lives as long as the instance, which is as long as the process.
Status Validation::watch(VkInstance instance, PFN_vkGetInstanceProcAddr find) const {
  const auto create =
      reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(find(instance, "vkCreateDebugUtilsMessengerEXT"));
  if (!create) return internal_error("Vulkan: the validation layer has no vkCreateDebugUtilsMessengerEXT");
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  return check(create(instance, &messenger_, nullptr, &messenger), "watching the validation layer");
}

}  // namespace burn::backends::vulkan
