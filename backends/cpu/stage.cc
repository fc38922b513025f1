#include "backends/cpu/stage.h"

#include "backends/failures.h"

namespace burn::backends::cpu {

Result<Kernel> prepare_node(const ir::Program& program, const ir::Node& node) {
  std::vector<const ir::TensorType*> operands;
  for (const auto ref : program.operands_of(node)) operands.push_back(&program.type_of(ref));
  const auto results = program.results_of(node);
  const Signature signature{operands, results[0].type, results};
  auto kernel = std::visit([&](const auto& op) { return kernels::prepare(op, signature); }, node.op);
  if (!kernel.ok()) return at_node(kernel.status(), node);
  return kernel;
}

Result<Stage> prepare_stage(const ir::Program& program, const Plan& plan, const PlanStep& step) {
  if (step.group == PlanStep::kSingle) {
    BURN_TRY(auto kernel, prepare_node(program, program.nodes[static_cast<std::size_t>(step.node)]));
    return Stage{.kernel = std::move(kernel)};
  }
  const auto& group = plan.groups[static_cast<std::size_t>(step.group)];
  auto code = compile_group(program, group, step);
  if (!code.ok()) return at_node(code.status(), program.nodes[static_cast<std::size_t>(group.members[0].node)]);
  std::vector<ir::TensorType> types;
  types.reserve(step.results.size());
  for (const auto ref : step.results) types.push_back(program.type_of(ref));
  return Stage{.fused = FusedKernel(*std::move(code), std::move(types))};
}

// What a std::function holds cannot be asked: a kernel keeps its op, types and strides.
std::size_t Stage::memory_bytes() const {
  constexpr std::size_t kKernelBytes = 512;
  return sizeof *this + (fused ? fused->memory_bytes() : kKernelBytes);
}

}  // namespace burn::backends::cpu
