// What Tensor<D, K> does element by element. A base of it: include client/tensor/tensor.h.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

template <int D, Kind K>
class ElementMethods {
  using Tensor = burn::Tensor<D, K>;
  using Fn = ir::PointwiseFn;

 public:
  // One method for each row of the table: x.exp(), x.add(y), x.add(2), x.greater(y). Unary minus and the operators are
  // these. Integers stay integers: they compare with any number by its value, but add and multiply only with whole ones
  // (2 or 2.0; 0.5 is an error: to_float() first).
#define P1(name, forms, kind, ...)                                                                           \
  burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> name(Loc where = Loc::current()) const \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                     \
  {                                                                                                          \
    return burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{                              \
        client::pointwise(Fn::name, value(), at(where))};                                                    \
  }
#define P2(name, method, kind, ...)                                                                                    \
  burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> method(const Tensor& other,                      \
                                                                             Loc where = Loc::current()) const         \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                               \
  {                                                                                                                    \
    return burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{                                        \
        client::pointwise(Fn::name, value(), other.value(), at(where))};                                               \
  }                                                                                                                    \
  burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> method(Scalar other, Loc where = Loc::current()) \
      const                                                                                                            \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                               \
  {                                                                                                                    \
    return burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{                                        \
        client::pointwise(Fn::name, value(), other, at(where))};                                                       \
  }
#define P3(...)  // mask_where and mask_fill below
#include "ir/pointwise.def"
#undef P1
#undef P2
#undef P3
  // The same functions under other names.
  template <typename Other>
  Tensor powf(const Other& other, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return powi(other, where);
  }
  template <typename Other>
  Tensor clamp_min(const Other& other, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return max_pair(other, where);
  }
  template <typename Other>
  Tensor clamp_max(const Other& other, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return min_pair(other, where);
  }

  Tensor square(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::mul, value(), value(), at(where))};
  }
  // Within [low, high]; of integers, the whole numbers there.
  Tensor clamp(Scalar low, Scalar high, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return clamp_min(low, where).clamp_max(high, where);
  }
  // `value` where the mask holds, this elsewhere.
  Tensor mask_where(const burn::Tensor<D, Bool>& mask, const Tensor& value, Loc where = Loc::current()) const {
    return Tensor{client::select(mask.value(), value.value(), this->value(), at(where))};
  }
  Tensor mask_fill(const burn::Tensor<D, Bool>& mask, Scalar value, Loc where = Loc::current()) const {
    const client::Value& x = this->value();
    client::fail_if_empty(x, "mask_fill", at(where));
    return Tensor{
        client::select(mask.value(), client::scalar(client::place_of(x), value, x.dtype(), at(where)), x, at(where))};
  }
  Tensor cast(DType dtype, Loc where = Loc::current()) const { return Tensor{client::cast(value(), dtype, at(where))}; }
  burn::Tensor<D, Int> to_int(Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::cast(value(), DType::i64, at(where))};
  }
  burn::Tensor<D, Float> to_float(Loc where = Loc::current()) const {
    return burn::Tensor<D, Float>{client::cast(value(), DType::f32, at(where))};
  }
  burn::Tensor<D, Bool> to_bool(Loc where = Loc::current()) const {
    return burn::Tensor<D, Bool>{client::cast(value(), DType::bool_, at(where))};
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
};

}  // namespace detail
}  // namespace burn
