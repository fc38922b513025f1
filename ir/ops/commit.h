// The op by which a program keeps its old state if computing the new one fails. Its shape rule is in the .cc file.
#pragma once

#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// Whether the guarded values may be replaced: true, unless a node or input that a guarded value depends on failed.
//
// It guards x in select(ok, x, old), where ok is a Commit or the conjunction (bool_and) of one with other bools. It
// covers failures of the nodes recorded before it and of the program's inputs: an index outside its axis, a singular
// matrix, an input that an earlier run failed to compute. If it is false, select returns `old`, even if x or the other
// bools failed. So a failed training step leaves parameters and moments unchanged instead of poisoning them.
//
// A backend runs it after all earlier nodes that may fail (may_fail()), and does not overwrite memory of `old` before
// it is known to be true. From then until the guarded values are computed, the run is not interrupted. A run that fails
// as a whole before that also returns `old` for guarded outputs (compile/plan/guards.h).
struct Commit {
  static constexpr bool kEffect = true;  // never merged: two Commits cover different nodes
  static constexpr std::string_view kName = "commit";
  static constexpr std::string_view kSignature = "-> bool[]";
  static constexpr auto kAttrs = std::tuple{};
};

#define BURN_COMMIT_OPS(OP) OP(Commit)

}  // namespace burn::ir
