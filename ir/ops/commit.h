// The op by which a program keeps what it has where what it computes fails. Its shape rule is in the .cc file.
#pragma once

#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// Whether what it guards can be replaced: true, unless something failed that a guarded value is computed from.
//
// It guards the values that are chosen by it: x of select(ok, x, old), where ok is a Commit or the conjunction
// (bool_and) of one with other bools. It covers the nodes recorded before it, and the inputs of the program: an index
// outside its axis, a singular matrix, an input that an earlier run failed to compute. Where it is false, select gives
// `old`, whatever happened to x and to the other bools. So a failed step of training leaves parameters and moments as
// they were, instead of making all of them failures.
//
// A backend runs it after all nodes before it that may fail (may_fail()), and writes over nothing that `old` needs
// until it has come out true. From then on until the guarded values are there, the run is not interrupted. A run that
// fails as a whole before that gives `old` for guarded outputs, too (compile/plan/guards.h).
struct Commit {
  static constexpr bool kEffect = true;  // never merged with another, which covers other nodes
  static constexpr std::string_view kName = "commit";
  static constexpr std::string_view kSignature = "-> bool[]";
  static constexpr auto kAttrs = std::tuple{};
};

#define BURN_COMMIT_OPS(OP) OP(Commit)

}  // namespace burn::ir
