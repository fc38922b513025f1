// Functions used by the gradient column of pointwise.def and by the rules: client/ops/formula.h, and helpers for
// gradients whose formula is undefined at a point. Only for .cc files of this folder.
#pragma once

#include "client/ops/formula.h"

namespace burn::autodiff {

using client::current_site;
using client::literal;
using client::Value;
using Fn = ir::PointwiseFn;

// Where the gradient's formula is undefined, the gradient is 0, as in PyTorch (or as the least of the possible slopes).
// The functions below replace an operand where the result does not depend on it, so that neither the gradient nor a
// gradient of it computes 0 * infinity.

// x as the divisor of a term that is 0 wherever x is 0.
inline Value or_one(const Value& x) { return select(x == 0.0, 1.0, x); }
// The base in b base^(b - 1), the slope of a^b: the slope of a^0 is 0, also where a is 0 or NaN.
inline Value base_of_slope(const Value& a, const Value& b) { return select(b == 0.0, select(abs(a) > 0.0, a, 1.0), a); }
// The base in a^b log(base), the slope of a^b in b: the slope of 0^b is 0 where b is not negative.
inline Value base_of_log(const Value& a, const Value& b) {
  return select(a == 0.0, select(b >= 0.0, literal(a, 1.0), a), a);
}

}  // namespace burn::autodiff
