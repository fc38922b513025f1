#include "compile/plan/guards.h"

#include <algorithm>

namespace burn::compile {
namespace {

std::size_t at(ir::Ref ref) { return static_cast<std::size_t>(ref.index()); }

// The Constant that a value repeats in every element through Expand and Reshape; null if it is no such value.
const ir::Constant* number_of(const ir::Program& program, ir::Ref ref) {
  while (!ref.is_input()) {
    const auto& node = program.maker_of(ref);
    if (const auto* number = std::get_if<ir::Constant>(&node.op)) return number;
    if (!std::holds_alternative<ir::Expand>(node.op) && !std::holds_alternative<ir::Reshape>(node.op)) return nullptr;
    ref = program.operands_of(node)[0];
  }
  return nullptr;
}

}  // namespace

std::vector<std::int32_t> find_commits(const ir::Program& program) {
  std::vector<std::int32_t> commits(program.values.size(), -1);
  const auto of = [&](ir::Ref ref) { return ref.is_input() ? -1 : commits[at(ref)]; };
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const auto& node = program.nodes[n];
    auto& here = commits[node.first_value];
    if (is_commit(node)) {
      here = static_cast<std::int32_t>(n);
    } else if (const auto* function = std::get_if<ir::Pointwise>(&node.op)) {
      const auto operands = program.operands_of(node);
      if (function->fn == ir::PointwiseFn::bool_and) here = std::max(of(operands[0]), of(operands[1]));
    } else if (std::holds_alternative<ir::Reshape>(node.op) || std::holds_alternative<ir::Expand>(node.op)) {
      here = of(program.operands_of(node)[0]);
    }
  }
  return commits;
}

std::int32_t guard_of(const ir::Program& program, const ir::Node& node, const std::vector<std::int32_t>& commits) {
  if (!is_select(node)) return -1;
  const auto condition = program.operands_of(node)[0];
  return condition.is_input() ? -1 : commits[at(condition)];
}

std::span<const ir::Ref> operands_propagating_failure(const ir::Program& program, const ir::Node& node,
                                                      const std::vector<std::int32_t>& commits) {
  const auto operands = program.operands_of(node);
  return guard_of(program, node, commits) >= 0 ? operands.subspan(2, 1) : operands;
}

std::vector<Coverage> find_coverage(const ir::Program& program) {
  std::vector<Coverage> all;
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    if (is_commit(program.nodes[n]))
      all.push_back({static_cast<std::int32_t>(n), std::vector<bool>(program.nodes.size()),
                     std::vector<bool>(program.inputs.size())});
  }
  if (all.empty()) return all;
  const auto commits = find_commits(program);
  const auto mark = [&](Coverage& coverage, std::span<const ir::Ref> refs) {
    for (const auto ref : refs) {
      if (ref.is_input())
        coverage.inputs[at(ref)] = true;
      else
        coverage.nodes[static_cast<std::size_t>(&program.maker_of(ref) - program.nodes.data())] = true;
    }
  };
  for (auto& coverage : all) {
    for (std::size_t n = program.nodes.size(); n-- > 0;) {  // readers before what they read
      const auto& node = program.nodes[n];
      if (guard_of(program, node, commits) == coverage.commit) mark(coverage, program.operands_of(node).first(2));
      if (coverage.nodes[n]) mark(coverage, operands_propagating_failure(program, node, commits));
    }
    coverage.nodes[static_cast<std::size_t>(coverage.commit)] = false;
  }
  return all;
}

std::int32_t guard_of_rows(const ir::Program& program, const ir::Node& node, const std::vector<std::int32_t>& commits) {
  const auto* scatter = std::get_if<ir::Scatter>(&node.op);
  if (!scatter || scatter->fn != ir::ScatterFn::assign) return -1;
  auto rows = program.operands_of(node)[2];
  while (!rows.is_input() && std::holds_alternative<ir::Cast>(program.maker_of(rows).op))
    rows = program.operands_of(program.maker_of(rows))[0];
  return rows.is_input() ? -1 : guard_of(program, program.maker_of(rows), commits);
}

std::vector<KeptOutput> kept_outputs(const ir::Program& program) {
  std::vector<KeptOutput> kept;
  bool has_commit = false;
  for (const auto& node : program.nodes) has_commit = has_commit || is_commit(node);
  if (!has_commit) return kept;
  const auto commits = find_commits(program);
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const auto& type = program.type_of(program.outputs[k]);
    auto old = program.outputs[k];
    while (!old.is_input()) {
      const auto& node = program.maker_of(old);
      if (guard_of(program, node, commits) >= 0)
        old = program.operands_of(node)[2];
      else if (guard_of_rows(program, node, commits) >= 0)
        old = program.operands_of(node)[0];
      else
        break;
    }
    if (old == program.outputs[k]) continue;
    if (old.is_input()) {
      if (program.type_of(old) == type) kept.push_back({k, old.index(), {}, type});
    } else if (const auto* number = number_of(program, old)) {
      kept.push_back({k, -1, *number, type});
    }
  }
  return kept;
}

}  // namespace burn::compile
