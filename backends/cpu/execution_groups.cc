// Runs groups: several of them in one pass over their elements, or a group member by member.
#include <algorithm>
#include <unordered_map>

#include "backends/cpu/execution.h"
#include "ir/node_errors.h"

namespace burn::backends::cpu {

void Execution::run_groups(std::size_t first, std::size_t count) {
  std::vector<std::vector<Array>> operands;
  std::vector<BoundGroup> groups;
  std::vector<std::size_t> positions;
  operands.reserve(count);
  groups.reserve(count);
  positions.reserve(count);
  for (auto p = first; p < first + count; ++p) {
    const auto& step = plan_.steps[p];
    if (stages_[p].is_guarded) reserved_ = {};
    auto& reads = operands.emplace_back(take_operands(p));
    if (failure_among(step.reads) || is_refused_among(step.reads)) {
      run_members(p, std::move(reads));
      continue;
    }
    std::int32_t failed = 0;                                    // of the group's members
    auto bound = stages_[p].fused->bind(run_, reads, &failed);  // NOLINT: only fused stages run together
    if (bound.ok()) {
      groups.push_back(*std::move(bound));
      positions.push_back(p);
    } else if (bound.status().code() == StatusCode::out_of_range || stages_[p].is_guarded) {
      run_members(p, std::move(reads));
    } else {
      const auto& members = plan_.groups[static_cast<std::size_t>(step.group)].members;
      const auto why = failure_of(ir::at_node(bound.status(), node(members[static_cast<std::size_t>(failed)].node)));
      for (const auto ref : step.results) fail(ref, why);
    }
  }
  if (groups.empty()) return;
  run_together(groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& results = plan_.steps[positions[g]].results;
    for (std::size_t i = 0; i < results.size(); ++i) value(results[i]) = std::move(groups[g].results[i]);
  }
}

// Runs a group of which a part fails member by member, so that the other part does not fail.
void Execution::run_members(std::size_t position, std::vector<Array> reads) {
  const auto& step = plan_.steps[position];
  std::unordered_map<std::int32_t, Array> inside;
  const auto operand = [&](ir::Ref ref) {
    if (!ref.is_input()) {
      if (const auto found = inside.find(ref.index()); found != inside.end()) return found->second;
    }
    return reads[static_cast<std::size_t>(std::ranges::find(step.reads, ref) - step.reads.begin())];
  };
  const auto compute = [&](const ir::Node& node) -> Result<Array> {
    BURN_TRY(const auto kernel, prepare_node(program_, node));
    std::vector<Array> operands;
    for (const auto ref : program_.operands_of(node)) operands.push_back(operand(ref));
    Array result;
    if (const auto done = kernel(run_, operands, {&result, 1}); !done.ok()) return ir::at_node(done, node);
    return result;
  };
  for (const auto& member : plan_.groups[static_cast<std::size_t>(step.group)].members) {
    const auto& member_node = node(member.node);
    const auto made = ir::Ref::value(static_cast<std::int32_t>(member_node.first_value));
    if (auto instead = substitute_for(member_node, operand)) {
      if (instead->failure)
        fail(made, std::move(instead->failure));
      else
        inside.emplace(made.index(), std::move(instead->value));
      continue;
    }
    auto failure = failure_among(program_.operands_of(member_node));
    if (!failure) {
      if (auto result = compute(member_node); result.ok()) {
        inside.emplace(made.index(), *std::move(result));
      } else {
        failure = failure_of(result.status());
      }
    }
    if (failure) fail(made, std::move(failure));
  }
  for (const auto ref : step.results) {
    if (const auto found = inside.find(ref.index()); found != inside.end()) value(ref) = found->second;
  }
}

}  // namespace burn::backends::cpu
