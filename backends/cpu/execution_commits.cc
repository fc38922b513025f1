// What a run does at Commits, and for the values that they guard.
#include <algorithm>

#include "backends/cpu/execution.h"
#include "compile/plan/guards.h"
#include "ir/node_errors.h"

namespace burn::backends::cpu {

void Execution::run_commit(std::size_t position) {
  const auto& step = plan_.steps[position];
  const auto& stage = stages_[position];
  auto why = failure_before(step.node);
  if (!why && stage.guarded_bytes > 0) {
    auto reserved = run_.pool.reserve_external(stage.guarded_bytes);
    if (reserved.ok())
      reserved_ = *std::move(reserved);
    else
      why = failure_of(ir::at_node(reserved.status(), node(step.node)));
  }
  keep(step.results[0], Array::immediate(ir::DType::bool_, why ? 0 : 1));
  if (!why) return;
  if (refused_.empty()) refused_.resize(program_.values.size());
  refused_[static_cast<std::size_t>(step.results[0].index())] = true;
  if (!why_refused_) why_refused_ = std::move(why);
}

// Failures of nodes that ran are known; nodes that have not run yet fail with their operands.
Failure Execution::failure_before(std::int32_t commit) const {
  if (failures_.empty()) return nullptr;
  std::vector<Failure> failed(failures_);
  const auto of = [&](ir::Ref ref) -> const Failure& { return failed[index_of(ref)]; };
  const auto first_of = [&](std::span<const ir::Ref> refs) -> Failure {
    for (const auto ref : refs) {
      if (of(ref)) return of(ref);
    }
    return nullptr;
  };
  for (const auto& node : program_.nodes) {
    const auto operands = program_.operands_of(node);
    const auto first = inputs_.size() + node.first_value;
    if (failed[first]) continue;
    Failure why;
    if (compile::is_select(node) && is_refused(operands[0]))
      why = of(operands[2]);
    else if (!is_refused(ir::Ref::value(static_cast<std::int32_t>(node.first_value))))
      why = first_of(operands);
    for (std::size_t k = 0; why && k < node.value_count; ++k) failed[first + k] = why;
  }
  const auto commits = compile::find_commits(program_);
  for (const auto& node : program_.nodes) {
    if (compile::guard_of(program_, node, commits) != commit) continue;
    if (auto why = first_of(program_.operands_of(node).first(2))) return why;
  }
  return nullptr;
}

bool Execution::is_refused_among(std::span<const ir::Ref> refs) const {
  return !refused_.empty() && std::ranges::any_of(refs, [&](ir::Ref ref) { return is_refused(ref); });
}

std::optional<Execution::Substitute> Execution::substitute_for(const ir::Node& node,
                                                               const std::function<Array(ir::Ref)>& operand) {
  if (refused_.empty() && failures_.empty()) return std::nullopt;
  const auto refs = program_.operands_of(node);
  const auto& shape = program_.type_of(node).shape;
  const auto shaped = [&](const Array& x) { return x.shape() == shape ? x : x.expanded(shape); };
  if (compile::is_select(node)) {
    if (!is_refused(refs[0])) {
      // Memory ran out after the Commit.
      auto why = failure_among(refs.first(2));
      if (!why || compile::guard_of(program_, node, compile::find_commits(program_)) < 0) return std::nullopt;
      if (!why_refused_) why_refused_ = std::move(why);
    }
    if (auto failure = failure_among(refs.subspan(2, 1))) return Substitute{{}, std::move(failure)};
    return Substitute{shaped(operand(refs[2])), nullptr};
  }
  const auto* function = std::get_if<ir::Pointwise>(&node.op);
  const bool rests = (function && function->fn == ir::PointwiseFn::bool_and) ||
                     std::holds_alternative<ir::Reshape>(node.op) || std::holds_alternative<ir::Expand>(node.op);
  if (!rests || !is_refused_among(refs)) return std::nullopt;
  refused_[node.first_value] = true;
  return Substitute{shaped(Array::immediate(ir::DType::bool_, 0)), nullptr};
}

}  // namespace burn::backends::cpu
