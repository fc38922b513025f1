// The target of a Vulkan device that times alternatives (compile/codegen/alternatives.h) and remembers the fastest one.
#pragma once

#include <memory>

#include "backends/vulkan/lower/target.h"

namespace burn::backends::vulkan {

class Device;

class TimedTarget final : public VulkanTarget {
 public:
  explicit TimedTarget(std::shared_ptr<Device> device);

  // Times on the device, possibly while others use it, in memory of its own, if Device::choices() is set. Results are
  // kept on disk. Returns 0 if the alternatives could not be timed, or if all operands and results together have less
  // than 256 KiB.
  std::size_t fastest(const std::string& key, std::span<const compile::View> operands,
                      std::span<const compile::View> results,
                      std::span<const compile::Alternative> alternatives) override;

 private:
  const std::shared_ptr<Device> device_;
};

}  // namespace burn::backends::vulkan
