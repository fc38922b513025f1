// The functions of float_math-inl.h as types, each with the range in which a shorter form of it is valid.
#if defined(BURN_FLOAT_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_FLOAT_FUNCTIONS_INL_H
#undef BURN_FLOAT_FUNCTIONS_INL_H
#else
#define BURN_FLOAT_FUNCTIONS_INL_H
#endif

#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/cpu/simd/float_math-inl.h"
#include "ir/ops/pointwise.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

// Applies `scalar` lane by lane, for numbers outside the range of a vector function.
template <typename Scalar>
HWY_INLINE V one_by_one(V x, const Scalar& scalar) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, F(), lanes);
  for (std::size_t i = 0; i < hn::Lanes(F()); ++i) lanes[i] = scalar(lanes[i]);
  return hn::Load(F(), lanes);
}

// A function of the table whose row names a vector form: `fast` is valid for |x| <= kRange, `any` everywhere; kRange is
// infinite if they are the same.
constexpr float kEverywhere = std::numeric_limits<float>::infinity();

template <ir::PointwiseFn kFn>
struct VectorForm;

#define BURN_FUNCTION(name, range, fast_of_x, any_of_x) \
  template <>                                           \
  struct VectorForm<ir::PointwiseFn::name> {            \
    static constexpr float kRange = range;              \
    template <typename T> /* a vector or a pack */      \
    static HWY_INLINE T fast(T x) {                     \
      return fast_of_x;                                 \
    }                                                   \
    static HWY_INLINE V any(V x) { return any_of_x; }   \
  }
#if BURN_SCALES_ANYWHERE
BURN_FUNCTION(exp, kEverywhere, scaled_exp(x), scaled_exp(x));
#else
BURN_FUNCTION(exp, kExpRange, fast_exp(x), exp(x));
#endif
BURN_FUNCTION(expm1, kEverywhere, map(x, [](V v) HWY_ATTR { return expm1(v); }), expm1(x));
BURN_FUNCTION(log, kEverywhere, map(x, [](V v) HWY_ATTR { return log(v); }), log(x));
BURN_FUNCTION(log1p, kEverywhere, map(x, [](V v) HWY_ATTR { return log1p(v); }), log1p(x));
BURN_FUNCTION(tanh, kEverywhere, tanh(x), tanh(x));
BURN_FUNCTION(erf, kEverywhere, erf(x), erf(x));
BURN_FUNCTION(sigmoid, kExpRange, fast_sigmoid(x), sigmoid(x));
BURN_FUNCTION(sqrt, kEverywhere, map(x, [](V v) HWY_ATTR { return hn::Sqrt(v); }), hn::Sqrt(x));
BURN_FUNCTION(sin, kSineRange, map(x, [](V v) HWY_ATTR { return fast_sin_turned(v, 0); }),
              one_by_one(x, [](float a) { return std::sin(a); }));
BURN_FUNCTION(cos, kSineRange, map(x, [](V v) HWY_ATTR { return fast_sin_turned(v, 1); }),
              one_by_one(x, [](float a) { return std::cos(a); }));
#undef BURN_FUNCTION

struct IdentityFn {
  static constexpr float kRange = kEverywhere;
  template <typename T>
  static HWY_INLINE T fast(T x) {
    return x;
  }
};

// Functions whose slope never enlarges a relative error hide the last bit of a quotient.
template <typename Fn>
constexpr bool kToleratesQuotientError =
    std::is_same_v<Fn, VectorForm<ir::PointwiseFn::erf>> || std::is_same_v<Fn, VectorForm<ir::PointwiseFn::tanh>>;

// For a vector or a pack of numbers of any size.
template <typename Fn, typename T>
HWY_INLINE T anywhere(T x) {
  if constexpr (Fn::kRange != kEverywhere) {
    if (HWY_UNLIKELY(!all_within(Fn::kRange, x))) return map(x, [](V v) HWY_ATTR { return Fn::any(v); });
  }
  return Fn::fast(x);
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
