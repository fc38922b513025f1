// Operators and functions over Values, recorded at the call site of the SiteScope around them, so that code reads as a
// formula. For .cc files with composites, gradients and update rules; elsewhere the functions of client/ops/ops.h are
// clearer.
//
//   const SiteScope scope{site};
//   return x * sigmoid(x) + 0.5;
//
// A number becomes a constant of the program, in the dtype of the other operand. Two tensors broadcast as in
// pointwise(). Every one-argument function of ir/ops/pointwise.def has its own name here.
#pragma once

#include "client/autocast.h"
#include "client/ops/ops.h"
#include "client/site_scope.h"

namespace burn::client {

// A number as a constant that combines with `like`: of its dtype, on its device.
inline Value literal(const Value& like, double number) {
  return constant(place_of(like), number, like.dtype(), current_site());
}

// Zeros of x's shape and dtype, on its device.
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

// `a` where the condition is true, `b` elsewhere.
inline Value select(const Value& condition, const Value& a, const Value& b) {
  return select(condition, a, b, current_site());
}
inline Value select(const Value& condition, const Value& a, double b) { return select(condition, a, literal(a, b)); }
inline Value select(const Value& condition, double a, const Value& b) { return select(condition, literal(b, a), b); }

// Casts 16-bit floats to f32, as in_compute_dtype() does with its operand: for further operands of its formula.
inline Value to_compute_dtype(const Value& x, const Site& site) { return cast(x, ir::compute_dtype(x.dtype()), site); }

// A vector over the last dim of `x` as an operand of a formula over x's rows: [1, ..., 1, n] in the compute dtype. A
// 16-bit vector that is not tracked is expanded first, so that the formula's own kernel casts it element by element; a
// tracked one is cast first, so that its gradient is summed in the compute dtype.
inline Value as_row_vector(const Value& vector, const Value& x, const Site& site) {
  ir::Shape line = ir::Shape::filled(x.rank(), 1);
  line[x.rank() - 1] = vector.dim(0);
  const bool is_wide = vector.dtype() == ir::compute_dtype(vector.dtype());
  if (is_wide || vector.is_tracked()) return reshape(to_compute_dtype(vector, site), line, site);
  return to_compute_dtype(expand(reshape(vector, line, site), x.shape(), site), site);
}

// Computes the formula over x in x's compute dtype, and casts the result to the dtype of x. A composite over 16-bit
// floats is thus computed in f32 and rounded once, forwards and backwards, without overflow or rounding of intermediate
// sums, squares and counts. `formula` takes a Value and returns one; its operators record `site`.
template <typename Formula>
Value in_compute_dtype(const Value& x, const Site& site, Formula&& formula) {
  const SiteScope scope{site};
  const Value result = formula(to_compute_dtype(x, site));
  return cast(result, x.dtype(), site);
}

// The same for norms, softmax, losses, sums and means: within an autocast scope the result is not cast back.
template <typename Formula>
Value in_wide_dtype(const Value& x, const Site& site, Formula&& formula) {
  const SiteScope scope{site};
  const Value result = formula(to_compute_dtype(x, site));
  return Autocast::dtype() ? result : cast(result, x.dtype(), site);
}

// A Value with its call site: the operand type of formulas before SiteScope existed, kept for programs that use it. Its
// operators are those of Value, and record the site of the scope.
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
