// What the gradient column of pointwise.def and the rules are written with: client/ops/formula.h, and gradients whose
// formula has no value at a point. Only for .cc files of this folder.
#pragma once

#include "client/ops/formula.h"

namespace burn::autodiff {

using client::current_site;
using client::literal;
using client::Value;
using Fn = ir::PointwiseFn;

// Where the gradient's formula has no value, PyTorch (or the least of the possible slopes) says 0. An operand is
// replaced where the result does not depend on it, so that neither this gradient nor one of it computes 0 * infinity.

// A divisor of what is 0 wherever x is.
inline Value or_one(const Value& x) { return select(x == 0.0, 1.0, x); }
// The base in b base^(b - 1), the slope of a^b: a^0 is flat also where a is 0 or NaN.
inline Value base_of_slope(const Value& a, const Value& b) { return select(b == 0.0, select(abs(a) > 0.0, a, 1.0), a); }
// The base in a^b log(base), the slope of a^b in b: 0^b is flat where b is not negative.
inline Value base_of_log(const Value& a, const Value& b) {
  return select(a == 0.0, select(b >= 0.0, literal(a, 1.0), a), a);
}

}  // namespace burn::autodiff
