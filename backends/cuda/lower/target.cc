#include "backends/cuda/lower/target.h"

#include <algorithm>
#include <variant>

#include "backends/cuda/lower/commit.h"
#include "backends/cuda/lower/group_call.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/moves.h"
#include "backends/cuda/lower/printing_emitter.h"
#include "backends/cuda/lower/product.h"
#include "compile/codegen/group_kernel.h"
#include "compile/codegen/kernels/group.h"
#include "compile/codegen/walks.h"
#include "compile/lower/lower_program.h"

namespace burn::backends::cuda {
namespace {

using compile::GroupOperand;
using compile::GroupPlan;

// Whether the group's kernel is generated in the kernel language, or by the printer of CUDA C++ text: if a large tensor
// is computed from one other tensor, the former is faster (docs/adr/061).
bool is_from_language(const compile::DeviceFacts& facts, const GroupPlan& plan) {
  return std::ranges::count_if(plan.reads(), [](const auto& read) { return read.kind == GroupOperand::Kind::full; }) ==
             1 &&
         compile::vectors_per_thread(facts, plan) > 1;
}

}  // namespace

Status CudaTarget::lower_group(Emitter& emit, const ir::Program& program, const compile::Group& group,
                               std::span<const ir::Ref> results) {
  return compile::emit_remembered(emit, program, group, results, [&](Emitter& to, const GroupPlan& plan) {
    if (plan.group().has_rows()) return compile::emit_rows(to, plan);
    if (!is_from_language(facts_, plan)) return compile::emit_elements(to, plan);
    std::vector<Address> written;
    for (const auto& write : plan.writes()) written.push_back(write.view.address);
    PrintingEmitter printing(to, std::move(written));
    return compile::kernels::emit_elements(printing, plan);
  });
}

Status CudaTarget::lower(Emitter& emit, const NodeInPlan& at) {
  return std::visit([&](const auto& op) { return lowering::lower(emit, op, at); }, at.node.op);
}

Status CudaTarget::lower_together(Emitter& emit, std::span<const NodeInPlan> nodes) {
  lower_all_reduces(emit, nodes);
  return {};
}

Status CudaTarget::lower_product(Emitter& emit, const ir::Program& program, const compile::Plan&,
                                 const ProductWithEpilogue& product, std::span<const ir::Ref>) {
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
