// Declares the gradient rule of every op whose struct does not set kIsFlat, and the helpers that rules share. For
// rules_*.cc, one file for each family of ops: a missing rule is a link error.
#pragma once

#include "autodiff/math.h"
#include "autodiff/rules.h"

namespace burn::autodiff {

inline Value zeros_like(const Value& x, const TapedOp& s) {
  return client::filled(place_of(s.g), x.shape(), 0, x.dtype(), s.site);
}

inline Value zeros(const ir::Shape& shape, const TapedOp& s) {
  return client::filled(place_of(s.g), shape, 0, s.g.dtype(), s.site);
}

// The gradient that arrived for result `k`, or zeros of its type.
inline Value arrived(std::size_t k, const TapedOp& s) {
  if (s.gs[k].has_value()) return s.gs[k];
  const Value& y = s.ys[k];
  return client::filled(place_of(s.g), y.shape(), 0, y.dtype(), s.site);
}

// Computes the gradient of an operand only if it is needed: of the first one (one), of the first and the second (two).
template <typename First>
OperandGradients one(const TapedOp& s, First&& first) {
  OperandGradients result(s.x.size());
  if (s.needs[0]) result[0] = first();
  return result;
}

template <typename First, typename Second>
OperandGradients two(const TapedOp& s, First&& first, Second&& second) {
  OperandGradients result(s.x.size());
  if (s.needs[0]) result[0] = first();
  if (s.needs[1]) result[1] = second();
  return result;
}

// For ops without a floating-point operand, or whose gradient is 0 everywhere.
inline OperandGradients flat(const TapedOp& s) { return OperandGradients(s.x.size()); }

namespace grad_rules {
#define OP(type) OperandGradients rule(const ir::type& op, const TapedOp& s);
BURN_OPS(OP)
#undef OP
}  // namespace grad_rules

}  // namespace burn::autodiff
