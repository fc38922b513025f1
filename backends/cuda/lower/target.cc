#include "backends/cuda/lower/target.h"

#include <variant>

#include "backends/cuda/lower/commit.h"
#include "backends/cuda/lower/group_call.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/moves.h"
#include "backends/cuda/lower/product.h"
#include "compile/codegen/group_kernel.h"

namespace burn::backends::cuda {

Status CudaTarget::lower_group(Emitter& emit, const ir::Program& program, const compile::Group& group,
                               std::span<const ir::Ref> results) {
  return compile::emit_group(emit, program, group, results);
}

Status CudaTarget::lower(Emitter& emit, const NodeInPlan& at) {
  return std::visit([&](const auto& op) { return lowering::lower(emit, op, at); }, at.node.op);
}

Status CudaTarget::lower_together(Emitter& emit, std::span<const NodeInPlan> nodes) {
  lower_all_reduces(emit, nodes);
  return {};
}

Status CudaTarget::lower_product(Emitter& emit, const ir::Program& program, const ProductWithEpilogue& product) {
  return cuda::lower_product(emit, program, product);
}

void CudaTarget::lower_commit(Emitter& emit, const Address& before, std::span<const Address> reports,
                              const Address& to) {
  emit_commit(emit, before, reports, to);
}

void CudaTarget::fill_constant(Emitter& emit, const ir::Constant& constant, const Address& to) {
  emit.launch(compile::cuda_cpp::constant_kernel(constant.dtype), {.blocks = 1, .threads = 1},
              {to, ir::is_floating(constant.dtype) ? Argument(constant.real) : Argument(constant.number)});
}

void CudaTarget::copy(Emitter& emit, const View& from, const View& to) { emit_copy(emit, from, to); }

Result<Lowered> lower_program(Device& device, const ir::Program& program, const Plan& plan) {
  CudaTarget target(device);
  return compile::lower_program(target, program, plan);
}

}  // namespace burn::backends::cuda
