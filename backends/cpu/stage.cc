#include "backends/cpu/stage.h"

#include <variant>

#include "ir/node_errors.h"
#include "ir/work.h"

namespace burn::backends::cpu {
namespace {

template <typename... Ops>
bool is_any_of(const ir::Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

// Estimated by ir::estimated_work(), of which a core does 10^9 per second. A library does all of it in one call; our
// own loops check for interrupts, so for them this is a precaution, for work that takes seconds.
bool may_take_long(const ir::Program& program, const ir::Node& node) {
  constexpr double kLongSort = 0x1p24, kLongForLibraries = 0x1p28, kLong = 0x1p32;
  const double work = ir::estimated_work(program, node);
  if (is_any_of<ir::Sort, ir::TopK>(node.op)) return work >= kLongSort;
  const bool is_of_library = is_any_of<ir::Cholesky, ir::Lu, ir::Qr, ir::Svd, ir::Eigh, ir::Solve, ir::Det, ir::Conv,
                                       ir::ConvInputGrad, ir::ConvWeightGrad>(node.op);
  return work >= (is_of_library ? kLongForLibraries : kLong);
}

Stage prepare_collectives(const ir::Program& program, const compile::PlanStep& step) {
  Stage stage;
  const auto add = [&](std::int32_t n) {
    const auto& node = program.nodes[static_cast<std::size_t>(n)];
    const auto group = std::visit(
        [](const auto& op) -> std::int64_t {
          if constexpr (requires { op.group; }) return op.group;
          return 0;
        },
        node.op);
    stage.collectives.push_back({node.op, group, program.type_of(program.operands_of(node)[0]), program.type_of(node)});
  };
  if (step.bucket.empty()) add(step.node);
  for (const auto n : step.bucket) add(n);
  return stage;
}

}  // namespace

Result<Kernel> prepare_node(const ir::Program& program, const ir::Node& node) {
  std::vector<const ir::TensorType*> operands;
  for (const auto ref : program.operands_of(node)) operands.push_back(&program.type_of(ref));
  const auto results = program.results_of(node);
  const Signature signature{operands, results[0].type, results};
  auto kernel = std::visit([&](const auto& op) { return kernels::prepare(op, signature); }, node.op);
  if (!kernel.ok()) return ir::at_node(kernel.status(), node);
  return kernel;
}

Result<Stage> prepare_stage(const ir::Program& program, const compile::Plan& plan, const compile::PlanStep& step,
                            TileCodes& codes) {
  if (step.group == compile::PlanStep::kSingle) {
    const auto& node = program.nodes[static_cast<std::size_t>(step.node)];
    if (ir::is_collective(node.op)) return prepare_collectives(program, step);
    BURN_TRY(auto kernel, prepare_node(program, node));
    return Stage{.kernel = std::move(kernel), .may_take_long = may_take_long(program, node)};
  }
  const auto& group = plan.groups[static_cast<std::size_t>(step.group)];
  auto code = codes.of(group, step);
  if (!code.ok()) return ir::at_node(code.status(), program.nodes[static_cast<std::size_t>(group.members[0].node)]);
  std::vector<ir::TensorType> types;
  types.reserve(step.results.size());
  for (const auto ref : step.results) types.push_back(program.type_of(ref));
  return Stage{.fused = FusedKernel(*std::move(code), std::move(types))};
}

// The contents of a std::function cannot be measured: a kernel keeps its op, types and strides.
std::size_t Stage::memory_bytes() const {
  constexpr std::size_t kKernelBytes = 512;
  return sizeof *this + (fused ? fused->memory_bytes() : kKernelBytes) +
         collectives.capacity() * sizeof(CollectiveNode);
}

}  // namespace burn::backends::cpu
