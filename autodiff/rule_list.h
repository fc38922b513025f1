// The gradient rule of every op whose struct does not say kIsFlat, and the words they share. For the .cc files of the
// families, rules_*.cc: a forgotten rule does not link.
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

// Runs a rule only for the operands that want it.
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

// Ops that take no floating operand, or whose result is flat in it.
inline OperandGradients flat(const TapedOp& s) { return OperandGradients(s.x.size()); }

namespace grad_rules {
#define OP(type) OperandGradients rule(const ir::type& op, const TapedOp& s);
BURN_OPS(OP)
#undef OP
}  // namespace grad_rules

}  // namespace burn::autodiff
