// Cooperative matrices (VK_KHR_cooperative_matrix, VK_KHR_shader_bfloat16), which the system's headers may be too old
// for: the names of these extensions, and the structures as the specifications define them.
#pragma once

#include "backends/vulkan/driver/vulkan.h"

namespace burn::backends::vulkan::tiles {

inline constexpr const char* kMatrixExtension = "VK_KHR_cooperative_matrix";
inline constexpr const char* kBFloat16Extension = "VK_KHR_shader_bfloat16";

inline constexpr auto kMatrixFeatures = static_cast<VkStructureType>(1000506000);
inline constexpr auto kMatrixProperties = static_cast<VkStructureType>(1000506001);
inline constexpr auto kBFloat16Features = static_cast<VkStructureType>(1000141000);

struct MatrixFeatures {
  VkStructureType sType = kMatrixFeatures;
  void* pNext = nullptr;
  VkBool32 cooperativeMatrix = VK_FALSE;
  VkBool32 cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

struct BFloat16Features {
  VkStructureType sType = kBFloat16Features;
  void* pNext = nullptr;
  VkBool32 shaderBFloat16Type = VK_FALSE;
  VkBool32 shaderBFloat16DotProduct = VK_FALSE;
  VkBool32 shaderBFloat16CooperativeMatrix = VK_FALSE;
};

enum class Component : std::int32_t { f16 = 0, f32 = 1, bf16 = 1000141000 };
inline constexpr std::int32_t kScopeSubgroup = 3;

// A combination of tile sizes and types that a device multiplies.
struct MatrixProperties {
  VkStructureType sType = kMatrixProperties;
  void* pNext = nullptr;
  std::uint32_t MSize = 0, NSize = 0, KSize = 0;
  Component AType = {}, BType = {}, CType = {}, ResultType = {};
  VkBool32 saturatingAccumulation = VK_FALSE;
  std::int32_t scope = 0;
};

// vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
using GetMatrixProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*, MatrixProperties*);

}  // namespace burn::backends::vulkan::tiles
