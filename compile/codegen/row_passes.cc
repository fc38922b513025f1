#include "compile/codegen/row_passes.h"

namespace burn::compile {
namespace {

// Marks the full values that `ref` is made of, and is computed from element by element.
void need(const GroupPlan& plan, ir::Ref ref, PassNeeds& needs) {
  if (!plan.is_full(ref)) return;
  const auto* member = plan.member(ref);
  if (!member) {
    needs.reads.insert(static_cast<std::size_t>(plan.read(ref) - plan.reads().data()));
    return;
  }
  if (!needs.members.insert(member->node).second) return;
  for (const auto operand : plan.program().operands_of(plan.node(*member))) need(plan, operand, needs);
}

}  // namespace

PassNeeds needs_of(const GroupPlan& plan, ir::Ref ref) {
  PassNeeds needs;
  need(plan, ref, needs);
  return needs;
}

PassNeeds needs_of_pass(const GroupPlan& plan, int stage) {
  PassNeeds needs;
  for (const auto& member : plan.group().members) {
    const auto& node = plan.node(member);
    const auto made_in = plan.stage_of(plan.value_of(member));
    const bool is_summed = member.level == Level::column && made_in == stage;
    const bool is_combined = member.level == Level::row && made_in == stage + 1;
    if (!is_summed && !is_combined) continue;
    const auto operands = plan.program().operands_of(node);
    if (std::holds_alternative<ir::Reduce>(node.op)) need(plan, operands[0], needs);
  }
  for (const auto& write : plan.writes()) {
    if (write.kind == GroupOperand::Kind::full && plan.stage_of(write.ref) == stage) need(plan, write.ref, needs);
  }
  return needs;
}

std::set<std::size_t> read_in_several_passes(const GroupPlan& plan) {
  std::set<std::size_t> seen, several;
  for (int stage = 0; stage <= plan.last_stage(); ++stage) {
    for (const auto k : needs_of_pass(plan, stage).reads) {
      if (!seen.insert(k).second) several.insert(k);
    }
  }
  return several;
}

}  // namespace burn::compile
