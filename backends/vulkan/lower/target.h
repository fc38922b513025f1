// A Vulkan device as the compiler sees it: kernels of the kernel language, and collectives on the host.
#pragma once

#include "compile/codegen/kernels/kernel_target.h"

namespace burn::backends::vulkan {

// The LibraryCall of this backend (Emitter::call()): a collective that the host performs between two parts of a
// program.
struct HostCollective {
  ir::Op op;
  ir::TensorType type;               // of the operand
  compile::Address operand, result;  // both row-major
  std::uint64_t result_bytes = 0;

  Status operator()(const compile::Bindings&, compile::DeviceQueue) const {
    return internal_error("Vulkan: a collective is performed by the host");
  }
};

class VulkanTarget : public compile::kernels::KernelTarget {
 public:
  using KernelTarget::KernelTarget;

  Status lower(compile::Emitter& emit, const compile::NodeInPlan& at) override;
};

// The collective that a call performs; null: it is another call.
const HostCollective* host_collective(const compile::LibraryCall& call);

}  // namespace burn::backends::vulkan
