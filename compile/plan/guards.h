// Analyses which values of a program a Commit guards (ir/ops/commit.h), and which values replace them if a run fails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// Per value: the Commit (a node) whose failure makes it false, because it is the Commit's result or a conjunction with
// it; the last one if there are several, -1 if there is none.
std::vector<std::int32_t> find_commits(const ir::Program& program);

// The Commit that guards a node: for select(ok, x, old) the Commit of its condition, looked up in `commits` (the result
// of find_commits()); -1 if there is none.
std::int32_t guard_of(const ir::Program& program, const ir::Node& node, const std::vector<std::int32_t>& commits);

// The Commit that guards the rows that a Scatter writes: if it is false, they are those that the table already has. -1
// if there is none.
std::int32_t guard_of_rows(const ir::Program& program, const ir::Node& node, const std::vector<std::int32_t>& commits);

// The operands whose failure makes the node's results fail: for a select that a Commit guards only the old value, which
// is the result if anything else failed; for other nodes all operands.
std::span<const ir::Ref> operands_propagating_failure(const ir::Program& program, const ir::Node& node,
                                                      const std::vector<std::int32_t>& commits);

inline bool is_select(const ir::Node& node) {
  const auto* function = std::get_if<ir::Pointwise>(&node.op);
  return function && function->fn == ir::PointwiseFn::select;
}
inline bool is_commit(const ir::Node& node) { return std::holds_alternative<ir::Commit>(node.op); }

// The nodes and inputs that a Commit covers: it is true if none of them failed. They are those that the values it
// guards are computed from; of a value that is itself guarded only the old value counts, which it keeps if something
// failed.
struct Coverage {
  std::int32_t commit = -1;         // a node
  std::vector<bool> nodes, inputs;  // of the program
};
// One for each Commit, in the order of the program.
std::vector<Coverage> find_coverage(const ir::Program& program);

// The value of an output if its run fails before anything was committed: an unchanged input, or one number in every
// element.
struct KeptOutput {
  std::size_t output = 0;
  std::int32_t input = -1;               // this input, or
  std::optional<ir::Constant> number{};  // this number
  ir::TensorType type{};
};

// The guarded outputs that have such a value, in order. All other outputs, including those whose old value the program
// computes itself, fail with their run. Empty if the program has no Commit.
std::vector<KeptOutput> kept_outputs(const ir::Program& program);

}  // namespace burn::compile
