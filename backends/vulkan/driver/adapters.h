// The devices that Vulkan's drivers offer on this machine: which of them are usable, their order, and their features.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/vulkan/driver/vulkan.h"
#include "compile/codegen/kernel/device_facts.h"

namespace burn::backends::vulkan {

// A physical device.
struct Adapter {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name, driver;  // "NVIDIA H100 80GB HBM3"; "NVIDIA 580.159.3"
  std::array<std::uint8_t, 16> uuid{};
  // Identify the driver in the header of its pipeline caches.
  std::uint32_t vendor = 0, device = 0;
  std::array<std::uint8_t, 16> cache_uuid{};
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  std::uint32_t api = 0;           // VK_MAKE_API_VERSION()
  std::string missing;             // required features that it lacks; empty: it is usable
  std::uint32_t queue_family = 0;  // the family of the compute queues
  std::uint32_t queues = 0;        // the number of queues in that family
  // The family of queues that only copy: engines that work while others compute.
  std::optional<std::uint32_t> copy_family;
  std::uint64_t memory_bytes = 0;      // of device memory
  std::uint64_t max_allocation = 0;    // bytes
  std::uint32_t max_blocks[3] = {};    // blocks in each dim of a grid
  std::uint32_t max_shared_bytes = 0;  // per block
  std::string matrices;  // tile sizes that a subgroup multiplies with f32 sums: "16x16x16 f16, 16x16x16 bf16"
  double tick_ns = 1;    // nanoseconds per tick of the device's clock
  bool has_memory_budget = false;
  compile::DeviceFacts facts;  // optional features of kernels; required ones are present if `missing` is empty

  bool is_cpu() const { return type == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  std::string uuid_text() const;  // "4c4c4544-0037-..."
};

// All devices, usable or not, in the drivers' order. Errors: load_vulkan()'s.
Result<std::vector<Adapter>> all_adapters();

// The devices that "vulkan:0", "vulkan:1", ... name: usable ones, discrete GPUs before integrated ones; CPUs only with
// BURN_VULKAN_CPU=on, after the others, or if there is nothing else. Errors: all_adapters()'s; FAILED_PRECONDITION if
// there is none, with what each device lacks.
Result<std::vector<Adapter>> usable_adapters();

// By position in usable_adapters(). Errors: FAILED_PRECONDITION with what is missing; NOT_FOUND with a list of the
// devices.
Result<Adapter> adapter_at(int index);

// The position in usable_adapters() of the adapter with this UUID ("uuid=...") or with this text in its name, in upper
// or lower case. Errors: NOT_FOUND with a list of the devices; INVALID_ARGUMENT if several match.
Result<int> find_adapter(std::string_view name);

}  // namespace burn::backends::vulkan
