// Elementwise methods of Tensor<D, K>. A base class of it: include client/tensor/tensor.h.
#pragma once

#include <cstdint>
#include <numbers>

#include "client/ops/statistics.h"
#include "client/tensor/untyped.h"

namespace burn {

template <int D, Kind K>
class Tensor;

namespace detail {

template <int D, Kind K>
class ElementMethods {
  using Tensor = burn::Tensor<D, K>;
  using Fn = ir::PointwiseFn;
  using Truth = burn::Tensor<1 + 0 * D, Bool>;  // 0 * D: a dependent type, instantiated when used

 public:
  // One method for each row of ir/ops/pointwise.def: x.exp(), x.add(y), x.add(2), x.greater(y). Unary minus and the
  // operators call them. Integers stay integers: they compare with any number by its value, but add and multiply only
  // with whole numbers (2 or 2.0; 0.5 is an error: call to_float() first).
#define P1(name, forms, kind, ...)                                                                           \
  burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> name(Loc where = Loc::current()) const \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                     \
  {                                                                                                          \
    return burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{                              \
        client::pointwise(Fn::name, value(), at(where, #name))};                                             \
  }
#define P2(name, method, kind, ...)                                                                                    \
  burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> method(const Tensor& other,                      \
                                                                             Loc where = Loc::current()) const         \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                               \
  {                                                                                                                    \
    return burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{                                        \
        client::pointwise(Fn::name, value(), other.value(), at(where, #method))};                                      \
  }                                                                                                                    \
  burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>> method(Scalar other, Loc where = Loc::current()) \
      const                                                                                                            \
    requires(detail::takes<K>(ir::PointwiseClass::kind))                                                               \
  {                                                                                                                    \
    return burn::Tensor<D, detail::PointwiseKind<ir::PointwiseClass::kind, K>>{                                        \
        client::pointwise(Fn::name, value(), other, at(where, #method))};                                              \
  }
#define P3(...)  // mask_where and mask_fill in index_methods.h
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
  // The same functions under other names, which their errors use.
  template <typename Other>
  Tensor powf(const Other& other, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{with(Fn::pow, other, at(where, "powf"))};
  }
  template <typename Other>
  Tensor clamp_min(const Other& other, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{with(Fn::max, other, at(where, "clamp_min"))};
  }
  template <typename Other>
  Tensor clamp_max(const Other& other, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{with(Fn::min, other, at(where, "clamp_max"))};
  }

  // Degrees to radians, and back.
  Tensor deg2rad(Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{with(Fn::mul, std::numbers::pi / 180, at(where, "deg2rad"))};
  }
  Tensor rad2deg(Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return Tensor{with(Fn::mul, 180 / std::numbers::pi, at(where, "rad2deg"))};
  }
  // Along `dim`, which has 3 elements.
  Tensor cross(const Tensor& other, int dim, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::cross(value(), other.value(), dim, at(where, "cross"))};
  }
  // [n], [n] -> [1]
  burn::Tensor<1, K> dot(const Tensor& other, Loc where = Loc::current()) const
    requires(D == 1 && Numeric<K>)
  {
    return burn::Tensor<1, K>{client::dot(value(), other.value(), at(where, "dot"))};
  }

  Tensor square(Loc where = Loc::current()) const
    requires Numeric<K>
  {
    return Tensor{client::pointwise(Fn::mul, value(), value(), at(where, "square"))};
  }
  // Clamps to [low, high]; integers: to the whole numbers in it.
  Tensor clamp(Scalar low, Scalar high, Loc where = Loc::current()) const
    requires Numeric<K>
  {
    const auto site = at(where, "clamp");
    return Tensor{client::pointwise(Fn::min, with(Fn::max, low, site), high, site)};
  }

  // --- tests ---------------------------------------------------------------------------------------------------------
  burn::Tensor<D, Bool> is_finite(Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return burn::Tensor<D, Bool>{client::is_finite(value(), at(where, "is_finite"))};
  }
  Truth contains_nan(Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    const auto site = at(where, "contains_nan");
    return Truth{client::reduce_all(ir::ReduceFn::max, client::pointwise(Fn::is_nan, value(), site), site)};
  }
  // |x - y| <= atol + rtol |y|, or equal infinities. Always false for NaN.
  burn::Tensor<D, Bool> is_close(const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                                 Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    return burn::Tensor<D, Bool>{client::is_close(value(), other.value(), rtol, atol, at(where, "is_close"))};
  }
  // Reads from the device: one round trip.
  bool all_close(const Tensor& other, double rtol = 1e-5, double atol = 1e-8, Loc where = Loc::current()) const
    requires std::same_as<K, Float>
  {
    const auto site = at(where, "all_close");
    const auto close = client::is_close(value(), other.value(), rtol, atol, site);
    return Truth{client::reduce_all(ir::ReduceFn::min, close, site)}.template into_scalar<bool>(where);
  }

  // --- dtypes --------------------------------------------------------------------------------------------------------
  // Converts to a dtype of the same kind; to_int(), to_float() and to_bool() change the kind.
  Tensor cast(DType dtype, Loc where = Loc::current()) const {
    return Tensor{client::cast(value(), dtype, at(where, "cast")), "cast", where};
  }
  burn::Tensor<D, Int> to_int(Loc where = Loc::current()) const { return to_int(DType::i64, where); }
  burn::Tensor<D, Int> to_int(DType dtype, Loc where = Loc::current()) const {
    return burn::Tensor<D, Int>{client::cast(value(), dtype, at(where, "to_int")), "to_int", where};
  }
  burn::Tensor<D, Float> to_float(Loc where = Loc::current()) const { return to_float(DType::f32, where); }
  burn::Tensor<D, Float> to_float(DType dtype, Loc where = Loc::current()) const {
    return burn::Tensor<D, Float>{client::cast(value(), dtype, at(where, "to_float")), "to_float", where};
  }
  burn::Tensor<D, Bool> to_bool(Loc where = Loc::current()) const {
    return burn::Tensor<D, Bool>{client::cast(value(), DType::bool_, at(where, "to_bool"))};
  }

 private:
  const client::Value& value() const { return static_cast<const Tensor&>(*this).value(); }
  client::Value with(Fn fn, const Tensor& other, const client::Site& site) const {
    return client::pointwise(fn, value(), other.value(), site);
  }
  client::Value with(Fn fn, Scalar other, const client::Site& site) const {
    return client::pointwise(fn, value(), other, site);
  }
};

}  // namespace detail
}  // namespace burn
