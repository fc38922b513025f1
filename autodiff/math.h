// Operators over client::Value, so that the gradient column of pointwise.def reads as graph-building code. Only for .cc
// files of this folder: everywhere else the functions of client/ops/ops.h say more clearly what they do.
#pragma once

#include "client/ops/ops.h"

namespace burn::autodiff {

using client::Value;
using Fn = ir::PointwiseFn;

// The call site that the recorded nodes carry: that of the op whose gradient is being written. Set by backward(), per
// thread.
inline thread_local ir::CallSite current_site;

inline Value literal(const Value& like, double value) {
  return client::constant(client::place_of(like), value, like.dtype(), current_site);
}

#define BURN_VALUE_OPERATOR(op, fn)                                                                                  \
  inline Value operator op(const Value& a, const Value& b) { return client::pointwise(Fn::fn, a, b, current_site); } \
  inline Value operator op(const Value& a, double b) {                                                               \
    return client::pointwise(Fn::fn, a, literal(a, b), current_site);                                                \
  }                                                                                                                  \
  inline Value operator op(double a, const Value& b) {                                                               \
    return client::pointwise(Fn::fn, literal(b, a), b, current_site);                                                \
  }
BURN_VALUE_OPERATOR(+, add)
BURN_VALUE_OPERATOR(-, sub)
BURN_VALUE_OPERATOR(*, mul)
BURN_VALUE_OPERATOR(/, div)
BURN_VALUE_OPERATOR(<, lower)
BURN_VALUE_OPERATOR(<=, lower_equal)
BURN_VALUE_OPERATOR(>, greater)
BURN_VALUE_OPERATOR(>=, greater_equal)
BURN_VALUE_OPERATOR(==, equal)
#undef BURN_VALUE_OPERATOR

inline Value operator-(const Value& x) { return client::pointwise(Fn::neg, x, current_site); }

// Every one-argument function of the table under its own name; two-argument ones that formulas use.
#define P1(name, ...) \
  inline Value name(const Value& x) { return client::pointwise(Fn::name, x, current_site); }
#define P2(...)
#define P3(...)
#include "ir/pointwise.def"
#undef P1
#undef P2
#undef P3

inline Value pow(const Value& a, const Value& b) { return client::pointwise(Fn::pow, a, b, current_site); }
inline Value select(const Value& c, const Value& a, const Value& b) { return client::select(c, a, b, current_site); }
inline Value select(const Value& c, const Value& a, double b) { return select(c, a, literal(a, b)); }
inline Value select(const Value& c, double a, const Value& b) { return select(c, literal(b, a), b); }

// Gradients whose formula has no value at a point, where PyTorch (or the least of the possible slopes) says 0. An
// operand is replaced where the result does not depend on it, so that neither this gradient nor one of it computes 0 *
// infinity.

// A divisor of what is 0 wherever x is.
inline Value or_one(const Value& x) { return select(x == 0.0, 1.0, x); }
// The base in b base^(b - 1), the slope of a^b: a^0 is flat also where a is 0 or NaN.
inline Value base_of_slope(const Value& a, const Value& b) { return select(b == 0.0, select(abs(a) > 0.0, a, 1.0), a); }
// The base in a^b log(base), the slope of a^b in b: 0^b is flat where b is not negative.
inline Value base_of_log(const Value& a, const Value& b) {
  return select(a == 0.0, select(b >= 0.0, literal(a, 1.0), a), a);
}

}  // namespace burn::autodiff
