// The pipelines of one device: each kernel is compiled once, no matter which programs launch it.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/vulkan/device/device.h"
#include "compile/codegen/dialects/kernel_source.h"

namespace burn::backends::vulkan {

// Thread-safe. Pipelines are kept as long as the device. The driver's compiled code is kept between processes in the
// cache folder, by the driver's UUID and version.
class Pipelines {
 public:
  static Result<std::unique_ptr<Pipelines>> open(Device& device);
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  ~Pipelines();

  // One pipeline per source, in order. Errors: UNIMPLEMENTED for a kernel beyond the device's limits; what the driver
  // says.
  Result<std::vector<VkPipeline>> of(std::span<const compile::KernelSource> sources);
  // The layout of all pipelines: eight bytes of push constants, which are the address of the arguments.
  VkPipelineLayout layout() const { return layout_; }

 private:
  explicit Pipelines(Device& device) : device_(device) {}
  Status start();
  Result<VkPipeline> make(const compile::kernel::Kernel& kernel) const;
  std::string file_name() const;
  std::string load() const;
  void save();

  Device& device_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::unordered_map<std::string, VkPipeline> made_;  // by the source's text
  bool is_new_ = false;                               // pipelines were added since the cache file was read
};

}  // namespace burn::backends::vulkan
