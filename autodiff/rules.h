// The gradient of each op: what flows to its operands, written with the same ops, hence differentiable and fusable
// again.
#pragma once

#include <optional>
#include <span>

#include "base/small_array.h"
#include "client/value.h"

namespace burn::autodiff {

// One op of the tape as a rule sees it.
struct TapedOp {
  std::span<const client::Value> x;  // the operands
  const client::Value& y;            // the (first) result
  const client::Value& g;            // the gradient of the (first) result, of y's shape
  std::span<const bool> needs;       // which operands want theirs
  ir::CallSite site;
  // For ops with several results: all of them, and the gradients that arrived; empty (has_value() is false) where none
  // did. At least one has; where the first has none, `g` is zeros.
  std::span<const client::Value> ys = {};
  std::span<const client::Value> gs = {};
};

// One gradient per operand: empty where none is needed or none flows. Errors (thrown): UNIMPLEMENTED for an op without
// a rule.
using OperandGradients = SmallArray<std::optional<client::Value>, 3>;
OperandGradients gradients(const ir::Op& op, const TapedOp& step);

}  // namespace burn::autodiff
