// The operators of Tensor<D, K> with a tensor or a number. A base class of it: include client/tensor/tensor.h.
#pragma once

#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

template <int D, Kind K>
class Operators {
  using Tensor = burn::Tensor<D, K>;
  using Fn = ir::PointwiseFn;

 public:
  friend Tensor operator+(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.add(b.value, b.where);
  }
  friend Tensor operator-(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.sub(b.value, b.where);
  }
  friend Tensor operator*(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.mul(b.value, b.where);
  }
  friend Tensor operator/(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.div(b.value, b.where);
  }
  friend Tensor operator%(const Tensor& a, Located<Tensor> b)
    requires Numeric<K>
  {
    return a.remainder(b.value, b.where);
  }
  friend Tensor operator+(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::add, a.value(), b.value, at(b.where))};
  }
  friend Tensor operator-(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::sub, a.value(), b.value, at(b.where))};
  }
  friend Tensor operator*(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::mul, a.value(), b.value, at(b.where))};
  }
  friend Tensor operator/(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::div, a.value(), b.value, at(b.where))};
  }
  friend Tensor operator%(const Tensor& a, Located<Scalar> b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::remainder, a.value(), b.value, at(b.where))};
  }
  friend Tensor operator+(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::add, a.value, b.value(), at(a.where))};
  }
  friend Tensor operator-(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::sub, a.value, b.value(), at(a.where))};
  }
  friend Tensor operator*(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::mul, a.value, b.value(), at(a.where))};
  }
  friend Tensor operator/(Located<Scalar> a, const Tensor& b)
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::div, a.value, b.value(), at(a.where))};
  }
  // Elementwise comparisons. == and != are not defined, as they could also mean a comparison of whole tensors: use
  // equal() and not_equal().
#define BURN_COMPARE(op, fn)                                                                          \
  friend burn::Tensor<D, Bool> operator op(const Tensor& a, Located<Tensor> b)                        \
    requires Numeric<K>                                                                               \
  {                                                                                                   \
    return burn::Tensor<D, Bool>{client::pointwise(Fn::fn, a.value(), b.value.value(), at(b.where))}; \
  }                                                                                                   \
  friend burn::Tensor<D, Bool> operator op(const Tensor& a, Located<Scalar> b)                        \
    requires Numeric<K>                                                                               \
  {                                                                                                   \
    return burn::Tensor<D, Bool>{client::pointwise(Fn::fn, a.value(), b.value, at(b.where))};         \
  }
  BURN_COMPARE(>, greater)
  BURN_COMPARE(>=, greater_equal)
  BURN_COMPARE(<, lower)
  BURN_COMPARE(<=, lower_equal)
#undef BURN_COMPARE
  // x += y is x = x + y: this tensor gets a new value, copies of the old one keep theirs.
#define BURN_ASSIGN(op)                                       \
  friend Tensor& operator op##=(Tensor& a, Located<Tensor> b) \
    requires Numeric<K>                                       \
  {                                                           \
    return a = a op b;                                        \
  }                                                           \
  friend Tensor& operator op##=(Tensor& a, Located<Scalar> b) \
    requires Numeric<K>                                       \
  {                                                           \
    return a = a op b;                                        \
  }
  BURN_ASSIGN(+)
  BURN_ASSIGN(-)
  BURN_ASSIGN(*)
  BURN_ASSIGN(/)
  BURN_ASSIGN(%)
#undef BURN_ASSIGN

  friend Tensor operator-(Located<Tensor> a)
    requires Numeric<K>
  {
    return a.value.neg(a.where);
  }
  friend Tensor operator!(Located<Tensor> a)
    requires std::same_as<K, Bool>
  {
    return a.value.bool_not(a.where);
  }
  friend Tensor operator&(const Tensor& a, Located<Tensor> b)
    requires std::same_as<K, Bool>
  {
    return a.bool_and(b.value, b.where);
  }
  friend Tensor operator|(const Tensor& a, Located<Tensor> b)
    requires std::same_as<K, Bool>
  {
    return a.bool_or(b.value, b.where);
  }
  friend Tensor operator^(const Tensor& a, Located<Tensor> b)
    requires std::same_as<K, Bool>
  {
    return a.bool_xor(b.value, b.where);
  }
};

}  // namespace detail
}  // namespace burn
