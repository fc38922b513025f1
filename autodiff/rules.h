// The gradient of each op with respect to its operands, written with the same ops, so that it is differentiable and can
// be fused.
#pragma once

#include <optional>
#include <span>

#include "base/small_array.h"
#include "client/value.h"

namespace burn::autodiff {

// The arguments of a gradient rule: one op of the tape.
struct TapedOp {
  std::span<const client::Value> x;  // the operands
  const client::Value& y;            // the (first) result
  const client::Value& g;            // the gradient of the (first) result, of y's shape
  std::span<const bool> needs;       // which operands need a gradient
  ir::CallSite site;
  // For ops with several results: all results, and their gradients, empty (has_value() is false) for a result without
  // one. At least one has a gradient; if the first has none, `g` is zeros.
  std::span<const client::Value> ys = {};
  std::span<const client::Value> gs = {};
};

// One gradient for each operand; std::nullopt if it is not needed, or if no gradient flows to the operand. Errors
// (thrown): UNIMPLEMENTED for an op without a rule.
using OperandGradients = SmallArray<std::optional<client::Value>, 3>;
OperandGradients gradients(const ir::Op& op, const TapedOp& step);

}  // namespace burn::autodiff
