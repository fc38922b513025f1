#include "backends/vulkan/lower/target.h"

#include "compile/codegen/known_call.h"

namespace burn::backends::vulkan {

Status VulkanTarget::lower(compile::Emitter& emit, const compile::NodeInPlan& at) {
  if (!ir::is_collective(at.node.op)) return KernelTarget::lower(emit, at);
  const auto from = emit.contiguous(emit.read(at.operand(0)));
  const auto to = emit.result(at.result());
  const ir::TensorType type{from.dtype, from.shape}, result{to.dtype, to.shape};
  emit.call(compile::KnownCall{{from.address, to.address},
                               HostCollective{at.node.op, type, from.address, to.address, result.num_bytes()}});
  return {};
}

const HostCollective* host_collective(const compile::LibraryCall& call) {
  const auto* known = call.target<compile::KnownCall>();
  return known ? known->call.target<HostCollective>() : nullptr;
}

}  // namespace burn::backends::vulkan
