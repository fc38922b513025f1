#include "backends/plan/plan.h"

#include <algorithm>

namespace burn::backends {
namespace {

// Operands come before their readers, so one walk backwards reaches everything an output needs.
std::vector<bool> live_nodes(const ir::Program& program) {
  std::vector<bool> live(program.nodes.size());
  const auto mark = [&](ir::Ref ref) {
    if (!ref.is_input()) live[static_cast<std::size_t>(ref.index())] = true;
  };
  std::ranges::for_each(program.outputs, mark);
  for (std::size_t i = program.nodes.size(); i-- > 0;) {
    if (live[i]) std::ranges::for_each(program.operands_of(program.nodes[i]), mark);
  }
  return live;
}

}  // namespace

Plan make_plan(const ir::Program& program) {
  Plan plan;
  plan.node_last_use.assign(program.nodes.size(), Plan::kUnused);
  plan.input_last_use.assign(program.inputs.size(), Plan::kUnused);
  const auto last_use = [&](ir::Ref ref) -> std::int32_t& {
    auto& uses = ref.is_input() ? plan.input_last_use : plan.node_last_use;
    return uses[static_cast<std::size_t>(ref.index())];
  };

  const auto live = live_nodes(program);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (!live[i]) continue;
    const auto position = static_cast<std::int32_t>(plan.order.size());
    for (const auto ref : program.operands_of(program.nodes[i])) last_use(ref) = position;
    plan.order.push_back(static_cast<std::int32_t>(i));
  }
  for (const auto ref : program.outputs) last_use(ref) = Plan::kOutput;
  return plan;
}

}  // namespace burn::backends
