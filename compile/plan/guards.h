// What a program keeps where it fails: the values that a Commit guards (ir/ops/commit.h), and what stands in for them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// Per value: the Commit (a node) that it is false with, as its result or a conjunction with it, and of several the
// last; -1: none.
std::vector<std::int32_t> find_commits(const ir::Program& program);

// The Commit that guards a node: of select(ok, x, old) that of its condition, by that list; -1: none does.
std::int32_t guard_of(const ir::Program& program, const ir::Node& node, const std::vector<std::int32_t>& commits);

// The Commit that guards the rows which a Scatter writes: where it is false, they are those that the table has. -1:
// none.
std::int32_t guard_of_rows(const ir::Program& program, const ir::Node& node, const std::vector<std::int32_t>& commits);

inline bool is_select(const ir::Node& node) {
  const auto* function = std::get_if<ir::Pointwise>(&node.op);
  return function && function->fn == ir::PointwiseFn::select;
}
inline bool is_commit(const ir::Node& node) { return std::holds_alternative<ir::Commit>(node.op); }

// What a Commit comes out true by: that nothing failed of these. They are what the values it guards are computed from;
// of what is guarded itself, only the old value counts, which is what it is where something failed.
struct Coverage {
  std::int32_t commit = -1;         // a node
  std::vector<bool> nodes, inputs;  // of the program
};
// One for each Commit, in the order of the program.
std::vector<Coverage> find_coverage(const ir::Program& program);

// What an output is where its run fails before anything was committed: an input as it was, or a number everywhere.
struct KeptOutput {
  std::size_t output = 0;
  std::int32_t input = -1;               // this input, or
  std::optional<ir::Constant> number{};  // this number
  ir::TensorType type{};
};

// The guarded outputs that have such a stand-in, in order. The others, and those whose old value the program computes
// itself, fail with their run. Empty where the program has no Commit.
std::vector<KeptOutput> kept_outputs(const ir::Program& program);

}  // namespace burn::compile
