// Formulas that read as formulas: a Value together with the call site that what is computed from it carries. For .cc
// files that write composites; everywhere else the functions of client/ops/ops.h say more clearly what they do.
//
//   const Term x{value, site};
//   return x * sigmoid(x) + 0.5;
//
// A number becomes a constant of the program. Two tensors broadcast as in pointwise().
#pragma once

#include "client/autocast.h"
#include "client/ops/ops.h"

namespace burn::client {

class Term {
 public:
  // Errors (thrown): the value is empty. What has a name of its own says it first, by fail_if_empty().
  Term(Value value, const Site& site) : value_(std::move(value)), site_(site) {
    if (!value_.has_value()) [[unlikely]]
      throw_empty({}, site);
  }
  operator const Value&() const { return value_; }  // NOLINT: implicit, a formula ends as a Value
  const Value& value() const { return value_; }
  const Site& site() const { return site_; }

  Term with(const Value& value) const { return {value, site_}; }
  // A number in the form that this value combines with.
  Term literal(double number) const { return with(constant(place_of(value_), number, value_.dtype(), site_)); }
  Term detach() const { return with(value_.detach()); }

 private:
  Value value_;
  Site site_;
};

// Another operand of a formula over 16-bit floats, as in_compute_dtype has the first.
inline Value to_compute_dtype(const Value& x, const Site& site) { return cast(x, ir::compute_dtype(x.dtype()), site); }

inline Term combine(ir::PointwiseFn fn, const Term& a, const Term& b) {
  return a.with(pointwise(fn, a.value(), b.value(), a.site()));
}

#define BURN_TERM_BINARY(name, fn)                                                                    \
  inline Term name(const Term& a, const Term& b) { return combine(ir::PointwiseFn::fn, a, b); }       \
  inline Term name(const Term& a, double b) { return combine(ir::PointwiseFn::fn, a, a.literal(b)); } \
  inline Term name(double a, const Term& b) { return combine(ir::PointwiseFn::fn, b.literal(a), b); }
BURN_TERM_BINARY(operator+, add)
BURN_TERM_BINARY(operator-, sub)
BURN_TERM_BINARY(operator*, mul)
BURN_TERM_BINARY(operator/, div)
BURN_TERM_BINARY(operator<, lower)
BURN_TERM_BINARY(operator>, greater)
BURN_TERM_BINARY(operator<=, lower_equal)
BURN_TERM_BINARY(operator>=, greater_equal)
BURN_TERM_BINARY(operator==, equal)
BURN_TERM_BINARY(max, max)
BURN_TERM_BINARY(min, min)
BURN_TERM_BINARY(bool_and, bool_and)
BURN_TERM_BINARY(bool_or, bool_or)
#undef BURN_TERM_BINARY

#define BURN_TERM_UNARY(name, fn) \
  inline Term name(const Term& x) { return x.with(pointwise(ir::PointwiseFn::fn, x.value(), x.site())); }
BURN_TERM_UNARY(operator-, neg)
BURN_TERM_UNARY(abs, abs)
BURN_TERM_UNARY(erf, erf)
BURN_TERM_UNARY(exp, exp)
BURN_TERM_UNARY(expm1, expm1)
BURN_TERM_UNARY(floor, floor)
BURN_TERM_UNARY(log, log)
BURN_TERM_UNARY(log1p, log1p)
BURN_TERM_UNARY(relu, relu)
BURN_TERM_UNARY(round, round)
BURN_TERM_UNARY(sigmoid, sigmoid)
BURN_TERM_UNARY(sqrt, sqrt)
BURN_TERM_UNARY(tanh, tanh)
#undef BURN_TERM_UNARY

// `a` where the condition holds, `b` elsewhere.
inline Term select(const Term& condition, const Term& a, const Term& b) {
  return a.with(select(condition.value(), a.value(), b.value(), a.site()));
}
inline Term select(const Term& condition, const Term& a, double b) { return select(condition, a, a.literal(b)); }
inline Term select(const Term& condition, double a, const Term& b) { return select(condition, b.literal(a), b); }

// A vector over the last dim of `x` as an operand of a formula that computes with x's rows: [1, ..., 1, n] in the dtype
// of arithmetic. Where no gradient wants to be summed in it, it is cast element by element in the formula's own kernel.
inline Term line_of(const Value& vector, const Value& x, const Site& site) {
  ir::Shape line = ir::Shape::filled(x.rank(), 1);
  line[x.rank() - 1] = vector.dim(0);
  const bool is_wide = vector.dtype() == ir::compute_dtype(vector.dtype());
  if (is_wide || vector.is_tracked()) return {reshape(to_compute_dtype(vector, site), line, site), site};
  return {to_compute_dtype(expand(reshape(vector, line, site), x.shape(), site), site), site};
}

// The formula over x in the dtype that arithmetic on it happens in, its result in that of x. So a composite over 16-bit
// floats is computed in f32 from its first step to its last and rounded once, forwards and backwards; none of its sums,
// squares and counts is lost that the result does not show. `formula` takes a Term and gives a Value or a Term.
template <typename Formula>
Value in_compute_dtype(const Value& x, const Site& site, Formula&& formula) {
  const Value result = formula(Term{to_compute_dtype(x, site), site});
  return cast(result, x.dtype(), site);
}

// The same for norms, softmax, losses, sums and means: within an autocast scope their results stay in the dtype that
// they were computed in.
template <typename Formula>
Value in_wide_dtype(const Value& x, const Site& site, Formula&& formula) {
  const Value result = formula(Term{to_compute_dtype(x, site), site});
  return Autocast::dtype() ? result : cast(result, x.dtype(), site);
}

}  // namespace burn::client
