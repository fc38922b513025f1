// A Vulkan device that times alternatives (compile/codegen/alternatives.h) and remembers which is the fastest.
#pragma once

#include <memory>

#include "backends/vulkan/lower/target.h"

namespace burn::backends::vulkan {

class Device;

class TimedTarget final : public VulkanTarget {
 public:
  explicit TimedTarget(std::shared_ptr<Device> device);

  // On the device while others use it, too, in memory of its own, where Device::choices() are wanted. What was found
  // is kept on disk. 0 where it could not be timed, or where all operands and results have less than 256 KiB.
  std::size_t fastest(const std::string& key, std::span<const compile::View> operands,
                      std::span<const compile::View> results,
                      std::span<const compile::Alternative> alternatives) override;

 private:
  const std::shared_ptr<Device> device_;
};

}  // namespace burn::backends::vulkan
