// Formulas that read as formulas: operators and functions over Values, recorded at the call site of the SiteScope
// around them. For .cc files that write composites, gradients and update rules; everywhere else the functions of
// client/ops/ops.h say more clearly what they do.
//
//   const SiteScope scope{site};
//   return x * sigmoid(x) + 0.5;
//
// A number becomes a constant of the program, in the dtype of the value beside it. Two tensors broadcast as in
// pointwise(). Every one-argument function of ir/ops/pointwise.def has its own name here.
#pragma once

#include "client/autocast.h"
#include "client/ops/ops.h"
#include "client/site_scope.h"

namespace burn::client {

// A number in the form that `like` combines with.
inline Value literal(const Value& like, double number) {
  return constant(place_of(like), number, like.dtype(), current_site());
}

// Zeros of x's shape and dtype, beside it.
inline Value zeros_like(const Value& x) { return filled(place_of(x), x.shape(), 0, x.dtype(), current_site()); }

#define BURN_FORMULA_BINARY(name, fn)                                                                                \
  inline Value name(const Value& a, const Value& b) { return pointwise(ir::PointwiseFn::fn, a, b, current_site()); } \
  inline Value name(const Value& a, double b) { return name(a, literal(a, b)); }                                     \
  inline Value name(double a, const Value& b) { return name(literal(b, a), b); }
BURN_FORMULA_BINARY(operator+, add)
BURN_FORMULA_BINARY(operator-, sub)
BURN_FORMULA_BINARY(operator*, mul)
BURN_FORMULA_BINARY(operator/, div)
BURN_FORMULA_BINARY(operator<, lower)
BURN_FORMULA_BINARY(operator>, greater)
BURN_FORMULA_BINARY(operator<=, lower_equal)
BURN_FORMULA_BINARY(operator>=, greater_equal)
BURN_FORMULA_BINARY(operator==, equal)
BURN_FORMULA_BINARY(max, max)
BURN_FORMULA_BINARY(min, min)
BURN_FORMULA_BINARY(pow, pow)
BURN_FORMULA_BINARY(bool_and, bool_and)
BURN_FORMULA_BINARY(bool_or, bool_or)
#undef BURN_FORMULA_BINARY

#define P1(name, ...) \
  inline Value name(const Value& x) { return pointwise(ir::PointwiseFn::name, x, current_site()); }
#define P2(...)
#define P3(...)
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
inline Value operator-(const Value& x) { return neg(x); }

// `a` where the condition holds, `b` elsewhere.
inline Value select(const Value& condition, const Value& a, const Value& b) {
  return select(condition, a, b, current_site());
}
inline Value select(const Value& condition, const Value& a, double b) { return select(condition, a, literal(a, b)); }
inline Value select(const Value& condition, double a, const Value& b) { return select(condition, literal(b, a), b); }

// Another operand of a formula over 16-bit floats, as in_compute_dtype has the first.
inline Value to_compute_dtype(const Value& x, const Site& site) { return cast(x, ir::compute_dtype(x.dtype()), site); }

// A vector over the last dim of `x` as an operand of a formula that computes with x's rows: [1, ..., 1, n] in the dtype
// of arithmetic. Where no gradient wants to be summed in it, it is cast element by element in the formula's own kernel.
inline Value line_of(const Value& vector, const Value& x, const Site& site) {
  ir::Shape line = ir::Shape::filled(x.rank(), 1);
  line[x.rank() - 1] = vector.dim(0);
  const bool is_wide = vector.dtype() == ir::compute_dtype(vector.dtype());
  if (is_wide || vector.is_tracked()) return reshape(to_compute_dtype(vector, site), line, site);
  return to_compute_dtype(expand(reshape(vector, line, site), x.shape(), site), site);
}

// The formula over x in the dtype that arithmetic on it happens in, its result in that of x. So a composite over 16-bit
// floats is computed in f32 from its first step to its last and rounded once, forwards and backwards; none of its sums,
// squares and counts is lost that the result does not show. `formula` takes a Value and gives one; its operators record
// `site`.
template <typename Formula>
Value in_compute_dtype(const Value& x, const Site& site, Formula&& formula) {
  const SiteScope scope{site};
  const Value result = formula(to_compute_dtype(x, site));
  return cast(result, x.dtype(), site);
}

// The same for norms, softmax, losses, sums and means: within an autocast scope their results stay in the dtype that
// they were computed in.
template <typename Formula>
Value in_wide_dtype(const Value& x, const Site& site, Formula&& formula) {
  const SiteScope scope{site};
  const Value result = formula(to_compute_dtype(x, site));
  return Autocast::dtype() ? result : cast(result, x.dtype(), site);
}

// A Value with the call site it was made for: what formulas were written over before SiteScope, kept for programs that
// use it. Its operators are those of Value and record the scope's site.
class Term : public Value {
 public:
  Term(const Value& value) : Term(value, current_site()) {}  // NOLINT: implicit, a formula's results are Values
  Term(const Value& value, const Site& site) : Value(value), site_(site) {
    if (!value.has_value()) throw_empty({}, site);
  }
  const Value& value() const { return *this; }
  const Site& site() const { return site_; }
  Term with(const Value& value) const { return {value, site_}; }
  Term literal(double number) const { return with(client::literal(*this, number)); }
  Term detach() const { return with(Value::detach()); }

 private:
  Site site_;
};
inline Term combine(ir::PointwiseFn fn, const Value& a, const Value& b) { return pointwise(fn, a, b, current_site()); }

}  // namespace burn::client
