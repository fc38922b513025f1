// The devices that Vulkan's drivers offer on this machine: which of them can be used, in which order, and what each
// can do.
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
  // What the driver's caches of pipelines begin with.
  std::uint32_t vendor = 0, device = 0;
  std::array<std::uint8_t, 16> cache_uuid{};
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  std::uint32_t api = 0;           // VK_MAKE_API_VERSION()
  std::string missing;             // what it lacks to be used; empty: nothing
  std::uint32_t queue_family = 0;  // of queues that compute
  std::uint32_t queues = 0;        // of that family
  // Of queues that copy and do nothing else: engines beside those that compute.
  std::optional<std::uint32_t> copy_family;
  std::uint64_t memory_bytes = 0;      // of its own
  std::uint64_t max_allocation = 0;    // bytes
  std::uint32_t max_blocks[3] = {};    // of a grid
  std::uint32_t max_shared_bytes = 0;  // of a block
  std::string matrices;                // that a subgroup multiplies with sums of f32: "16x16x16 f16, 16x16x16 bf16"
  double tick_ns = 1;                  // of the device's clock
  bool has_memory_budget = false;
  compile::DeviceFacts facts;  // features that kernels may do without are here; others are there if nothing is missing

  bool is_cpu() const { return type == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  std::string uuid_text() const;  // "4c4c4544-0037-..."
};

// All that there are, whether they can be used or not, as drivers list them. Errors: load_vulkan()'s.
Result<std::vector<Adapter>> all_adapters();

// Those that "vulkan:0", "vulkan:1", ... are: usable ones, discrete GPUs before integrated ones; CPUs only where
// BURN_VULKAN_CPU=on, behind the others, or where there is nothing else. Errors: all_adapters()'s;
// FAILED_PRECONDITION where there is none, with what each device lacks.
Result<std::vector<Adapter>> usable_adapters();

// By position in usable_adapters(). Errors: FAILED_PRECONDITION with what is missing; NOT_FOUND with what there is.
Result<Adapter> adapter_at(int index);

// The position of the adapter that a part of its name, in any case, or "uuid=..." tells. Errors: NOT_FOUND with what
// there is; INVALID_ARGUMENT where several have it.
Result<int> find_adapter(std::string_view name);

}  // namespace burn::backends::vulkan
