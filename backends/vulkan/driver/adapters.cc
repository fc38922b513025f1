#include "backends/vulkan/driver/adapters.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/vulkan/driver/tiles.h"
#include "base/machine.h"
#include "base/settings.h"

namespace burn::backends::vulkan {
namespace {

// Structures that drivers fill in, each linked to the next one.
struct Answers {
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceVulkan11Properties of_11{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties of_12{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkan11Features has_11{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceVulkan12Features has_12{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan13Features has_13{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};

  explicit Answers(VkPhysicalDevice device) {
    instance_functions().GetPhysicalDeviceProperties2(device, &properties);
    if (properties.properties.apiVersion < VK_API_VERSION_1_3) return;
    properties.pNext = &of_11;
    of_11.pNext = &of_12;
    instance_functions().GetPhysicalDeviceProperties2(device, &properties);
    features.pNext = &has_11;
    has_11.pNext = &has_12;
    has_12.pNext = &has_13;
    instance_functions().GetPhysicalDeviceFeatures2(device, &features);
  }
};

std::string missing_features(const Answers& has) {
  const std::pair<VkBool32, const char*> needed[] = {
      {has.has_12.bufferDeviceAddress, "addresses of buffers (bufferDeviceAddress)"},
      {has.has_12.timelineSemaphore, "timeline semaphores (timelineSemaphore)"},
      {has.has_12.vulkanMemoryModel, "the memory model (vulkanMemoryModel)"},
      {has.has_12.scalarBlockLayout, "scalar layouts (scalarBlockLayout)"},
  };
  std::vector<std::string> missing;
  for (const auto& [is_there, name] : needed) {
    if (!is_there) missing.emplace_back(name);
  }
  return missing.empty() ? "" : fmt::format("it lacks {}", fmt::join(missing, ", "));
}

bool has_extension(VkPhysicalDevice device, const char* name) {
  std::uint32_t count = 0;
  instance_functions().EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  if (instance_functions().EnumerateDeviceExtensionProperties(device, nullptr, &count, all.data()) != VK_SUCCESS)
    return false;
  return std::ranges::any_of(all, [&](const auto& one) { return std::strcmp(one.extensionName, name) == 0; });
}

// Finds which tiles the kernels' subgroups can multiply (DeviceFacts::has_f16_tiles).
void find_tiles(const Answers& has, VkPhysicalDevice device, Adapter& adapter) {
  constexpr int kSubgroup = 32;
  auto& facts = adapter.facts;
  if (is_off(Setting::vulkan_tiles) || facts.subgroup_size != kSubgroup) return;
  if (!facts.has_int64 || !facts.has_narrow || !has.has_12.shaderFloat16 ||
      !has_extension(device, tiles::kMatrixExtension))
    return;
  const bool knows_bf16 = has_extension(device, tiles::kBFloat16Extension);
  tiles::BFloat16Features of_bf16;
  tiles::MatrixFeatures of_matrices{.pNext = knows_bf16 ? &of_bf16 : nullptr};
  VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &of_matrices};
  instance_functions().GetPhysicalDeviceFeatures2(device, &features);
  const auto list = reinterpret_cast<tiles::GetMatrixProperties>(
      find_instance_function("vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  if (!of_matrices.cooperativeMatrix || !list) return;
  std::uint32_t count = 0;
  if (list(device, &count, nullptr) != VK_SUCCESS) return;
  std::vector<tiles::MatrixProperties> all(count);
  if (list(device, &count, all.data()) != VK_SUCCESS) return;
  std::vector<std::string> sizes;
  const auto has_tile = [&](tiles::Component component) {
    constexpr std::uint32_t kSize = 16;
    bool is_there = false;
    for (const auto& one : all) {
      if (one.AType != component || one.BType != component || one.CType != tiles::Component::f32 ||
          one.ResultType != tiles::Component::f32 || one.scope != tiles::kScopeSubgroup)
        continue;
      sizes.push_back(fmt::format("{}x{}x{} {}", one.MSize, one.NSize, one.KSize,
                                  component == tiles::Component::f16 ? "f16" : "bf16"));
      is_there = is_there || (one.MSize == kSize && one.NSize == kSize && one.KSize == kSize);
    }
    return is_there;
  };
  facts.has_f16_tiles = has_tile(tiles::Component::f16);
  facts.has_bf16_tiles = of_bf16.shaderBFloat16Type != 0 && of_bf16.shaderBFloat16CooperativeMatrix != 0 &&
                         has_tile(tiles::Component::bf16);
  adapter.matrices = fmt::format("{}", fmt::join(sizes, ", "));
}

// As the GPU's driver reports it; otherwise a guess.
int multiprocessors_of(VkPhysicalDevice device) {
  constexpr int kGuess = 64;
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV of_nvidia{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCorePropertiesAMD of_amd{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  if (has_extension(device, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    properties.pNext = &of_nvidia;
    instance_functions().GetPhysicalDeviceProperties2(device, &properties);
    return static_cast<int>(of_nvidia.shaderSMCount);
  }
  if (has_extension(device, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    properties.pNext = &of_amd;
    instance_functions().GetPhysicalDeviceProperties2(device, &properties);
    return static_cast<int>(of_amd.shaderEngineCount * of_amd.shaderArraysPerEngineCount *
                            of_amd.computeUnitsPerShaderArray);
  }
  return kGuess;
}

std::uint64_t own_memory(VkPhysicalDevice device) {
  VkPhysicalDeviceMemoryProperties2 memory{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  instance_functions().GetPhysicalDeviceMemoryProperties2(device, &memory);
  std::uint64_t most = 0;
  for (std::uint32_t h = 0; h < memory.memoryProperties.memoryHeapCount; ++h) {
    const auto& heap = memory.memoryProperties.memoryHeaps[h];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) most = std::max<std::uint64_t>(most, heap.size);
  }
  return most;
}

// False: the device has no compute queue.
bool find_queues(VkPhysicalDevice device, Adapter& adapter) {
  std::uint32_t count = 0;
  instance_functions().GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> all(count);
  instance_functions().GetPhysicalDeviceQueueFamilyProperties(device, &count, all.data());
  constexpr VkQueueFlags kIgnoredFlags = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
  for (std::uint32_t family = 0; family < count; ++family) {
    const auto flags = all[family].queueFlags;
    if (all[family].queueCount == 0) continue;
    if ((flags & VK_QUEUE_COMPUTE_BIT) != 0 && adapter.queues == 0) {
      adapter.queue_family = family;
      adapter.queues = all[family].queueCount;
    }
    if ((flags & ~kIgnoredFlags) == VK_QUEUE_TRANSFER_BIT && !adapter.copy_family) adapter.copy_family = family;
  }
  return adapter.queues > 0;
}

Adapter describe(VkPhysicalDevice device) {
  const Answers has(device);
  const auto& properties = has.properties.properties;
  const auto& limits = properties.limits;
  Adapter adapter{.handle = device, .name = properties.deviceName, .type = properties.deviceType};
  adapter.api = properties.apiVersion;
  adapter.vendor = properties.vendorID;
  adapter.device = properties.deviceID;
  std::ranges::copy(properties.pipelineCacheUUID, adapter.cache_uuid.begin());
  if (adapter.api < VK_API_VERSION_1_3) {
    adapter.missing = fmt::format("its driver speaks Vulkan {}.{}, 1.3 is needed", VK_API_VERSION_MAJOR(adapter.api),
                                  VK_API_VERSION_MINOR(adapter.api));
    return adapter;
  }
  adapter.driver = fmt::format("{} {}", has.of_12.driverName, has.of_12.driverInfo);
  std::ranges::copy(has.of_11.deviceUUID, adapter.uuid.begin());
  adapter.missing = missing_features(has);
  if (!find_queues(device, adapter)) adapter.missing = "it has no queue that computes";
  adapter.memory_bytes = own_memory(device);
  adapter.max_allocation = std::min<std::uint64_t>(has.of_11.maxMemoryAllocationSize, adapter.memory_bytes);
  std::ranges::copy(limits.maxComputeWorkGroupCount, adapter.max_blocks);
  adapter.tick_ns = static_cast<double>(limits.timestampPeriod);
  adapter.max_shared_bytes = limits.maxComputeSharedMemorySize;
  adapter.has_memory_budget = has_extension(device, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  auto& facts = adapter.facts;
  facts.has_int64 = has.features.features.shaderInt64 != 0;
  facts.has_narrow = has.has_12.shaderInt8 != 0 && has.features.features.shaderInt16 != 0 &&
                     has.has_12.storageBuffer8BitAccess != 0 && has.has_11.storageBuffer16BitAccess != 0;
  // Kernels use 32-bit offsets then (kernel/legalise.h).
  constexpr auto kMaxWords = std::uint64_t{1} << 31;
  if (!facts.has_int64 || !facts.has_narrow) adapter.max_allocation = std::min(adapter.max_allocation, kMaxWords);
  facts.max_allocation = adapter.max_allocation;
  facts.multiprocessors = adapter.is_cpu() ? usable_cores() : multiprocessors_of(device);
  facts.shared_bytes = limits.maxComputeSharedMemorySize;
  facts.shared_bytes_per_block = limits.maxComputeSharedMemorySize;
  facts.max_threads =
      static_cast<int>(std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]));
  facts.subgroup_size = static_cast<int>(has.of_11.subgroupSize);
  facts.has_shuffles = (has.of_11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
  facts.has_f64 = has.features.features.shaderFloat64 != 0 && facts.has_int64;
  facts.keeps_nan_f32 = has.of_12.shaderSignedZeroInfNanPreserveFloat32 != 0;
  facts.keeps_nan_f64 = has.of_12.shaderSignedZeroInfNanPreserveFloat64 != 0;
  // Measured on NVIDIA's driver (VulkanFunctions); other drivers promise no more than Vulkan does, 3 + 2 |x| units.
  facts.has_exp2 = has.of_12.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
  facts.has_slow_barriers = adapter.is_cpu();
  find_tiles(has, device, adapter);
  facts.has_limited_loops = has.of_12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  return adapter;
}

int rank_of(const Adapter& adapter) {
  switch (adapter.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 4;
    default:
      return 3;
  }
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (auto& letter : small) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return small;
}

std::string list_of(const std::vector<Adapter>& adapters) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < adapters.size(); ++k)
    names.push_back(fmt::format("vulkan:{} is {} (uuid={})", k, adapters[k].name, adapters[k].uuid_text()));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string Adapter::uuid_text() const {
  std::string text;
  for (std::size_t k = 0; k < uuid.size(); ++k)
    text += fmt::format("{}{:02x}", k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", uuid[k]);
  return text;
}

Result<std::vector<Adapter>> all_adapters() {
  BURN_RETURN_IF_ERROR(load_vulkan());
  std::uint32_t count = 0;
  BURN_RETURN_IF_ERROR(
      check(instance_functions().EnumeratePhysicalDevices(vulkan_instance(), &count, nullptr), "listing devices"));
  std::vector<VkPhysicalDevice> handles(count);
  BURN_RETURN_IF_ERROR(check(instance_functions().EnumeratePhysicalDevices(vulkan_instance(), &count, handles.data()),
                             "listing devices"));
  std::vector<Adapter> adapters;
  for (std::uint32_t k = 0; k < count; ++k) adapters.push_back(describe(handles[k]));
  return adapters;
}

Result<std::vector<Adapter>> usable_adapters() {
  BURN_TRY(auto adapters, all_adapters());
  if (adapters.empty()) return failed_precondition("Vulkan: the drivers of this machine find no device");
  std::vector<std::string> missing;
  for (const auto& adapter : adapters) {
    if (!adapter.missing.empty()) missing.push_back(fmt::format("{}: {}", adapter.name, adapter.missing));
  }
  std::erase_if(adapters, [](const Adapter& adapter) { return !adapter.missing.empty(); });
  if (adapters.empty()) return failed_precondition(fmt::format("Vulkan: {}", fmt::join(missing, "; ")));
  std::ranges::stable_sort(adapters, {}, rank_of);
  if (!is_on(Setting::vulkan_cpu) && !adapters.front().is_cpu()) std::erase_if(adapters, &Adapter::is_cpu);
  return adapters;
}

Result<Adapter> adapter_at(int index) {
  BURN_TRY(auto adapters, usable_adapters());
  if (index < 0 || static_cast<std::size_t>(index) >= adapters.size())
    return not_found(fmt::format("no device \"vulkan:{}\": {}", index, list_of(adapters)));
  return std::move(adapters[static_cast<std::size_t>(index)]);
}

Result<int> find_adapter(std::string_view name) {
  constexpr std::string_view kUuid = "uuid=";
  BURN_TRY(const auto adapters, usable_adapters());
  const auto wanted = in_small_letters(name);
  std::vector<int> found;
  for (std::size_t k = 0; k < adapters.size(); ++k) {
    const bool is_it = wanted.starts_with(kUuid) ? adapters[k].uuid_text() == wanted.substr(kUuid.size())
                                                 : in_small_letters(adapters[k].name).find(wanted) != std::string::npos;
    if (is_it) found.push_back(static_cast<int>(k));
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) return not_found(fmt::format("no device \"vulkan:{}\": {}", name, list_of(adapters)));
  return invalid_argument(fmt::format("\"vulkan:{}\" is {} devices: {}", name, found.size(), list_of(adapters)));
}

}  // namespace burn::backends::vulkan
