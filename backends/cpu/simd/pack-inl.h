// Several vectors that pass through a function side by side. The function's steps depend on each other, and an addition
// takes several cycles: this way the processor has other work meanwhile, whereas one vector after the other would fill
// its queues with waiting steps. A function over T below accepts a vector, two (Pair) or four (Pack).
#if defined(BURN_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_PACK_INL_H
#undef BURN_PACK_INL_H
#else
#define BURN_PACK_INL_H
#endif

#include <cstdint>
#include <type_traits>

#include "backends/cpu/simd/arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

// Two vectors, or two pairs of them.
template <typename T>
struct Two {
  T a, b;
};
using Pair = Two<V>;
using Pack = Two<Pair>;

template <typename T>
constexpr int kVectorsOf = 2 * kVectorsOf<decltype(T::a)>;
template <>
inline constexpr int kVectorsOf<V> = 1;

// The number of lanes in a T.
template <typename T>
HWY_INLINE std::int64_t lanes_of() {
  return kVectorsOf<T> * static_cast<std::int64_t>(hn::Lanes(F()));
}

template <typename Op>
HWY_INLINE V map(V x, const Op& op) {
  return op(x);
}
template <typename T, typename Op>
HWY_INLINE Two<T> map(Two<T> x, const Op& op) {
  return {map(x.a, op), map(x.b, op)};
}
template <typename Op>
HWY_INLINE V map(V x, V y, const Op& op) {
  return op(x, y);
}
template <typename T, typename Op>
HWY_INLINE Two<T> map(Two<T> x, Two<T> y, const Op& op) {
  return {map(x.a, y.a, op), map(x.b, y.b, op)};
}
// Calls op(vector, i) for each vector; i is the position of its numbers if those of x begin at `at`.
template <typename Op>
HWY_INLINE void for_each_vector(V x, std::int64_t at, const Op& op) {
  op(x, at);
}
template <typename T, typename Op>
HWY_INLINE void for_each_vector(Two<T> x, std::int64_t at, const Op& op) {
  for_each_vector(x.a, at, op);
  for_each_vector(x.b, at + lanes_of<T>(), op);
}

// A T filled with one vector.
template <typename T>
HWY_INLINE T repeat(V x) {
  if constexpr (std::is_same_v<T, V>) {
    return x;
  } else {
    const auto half = repeat<decltype(T::a)>(x);
    return {half, half};
  }
}
template <typename T>
HWY_INLINE T constant(double x) {
  return repeat<T>(hn::Set(F(), static_cast<float>(x)));
}

template <typename T>
HWY_INLINE T load(const float* x) {
  if constexpr (std::is_same_v<T, V>) {
    return hn::LoadU(F(), x);
  } else {
    using Half = decltype(T::a);
    return {load<Half>(x), load<Half>(x + lanes_of<Half>())};
  }
}
template <typename T>
HWY_INLINE void store(T v, float* y) {
  for_each_vector(v, 0, [y](V part, std::int64_t at) HWY_ATTR { hn::StoreU(part, F(), y + at); });
}

#define BURN_LIFT(name, Op)                            \
  HWY_INLINE V name(V x, V y) { return hn::Op(x, y); } \
  template <typename T>                                \
  HWY_INLINE Two<T> name(Two<T> x, Two<T> y) {         \
    return {name(x.a, y.a), name(x.b, y.b)};           \
  }
BURN_LIFT(add, Add)
BURN_LIFT(sub, Sub)
BURN_LIFT(mul, Mul)
BURN_LIFT(div, Div)
BURN_LIFT(min, Min)
BURN_LIFT(max, Max)
#undef BURN_LIFT

#define BURN_LIFT(name, Op)                                    \
  HWY_INLINE V name(V x, V y, V z) { return hn::Op(x, y, z); } \
  template <typename T>                                        \
  HWY_INLINE Two<T> name(Two<T> x, Two<T> y, Two<T> z) {       \
    return {name(x.a, y.a, z.a), name(x.b, y.b, z.b)};         \
  }
BURN_LIFT(mul_add, MulAdd)
BURN_LIFT(mul_sub, MulSub)
BURN_LIFT(neg_mul_add, NegMulAdd)
#undef BURN_LIFT

template <typename T>
HWY_INLINE T magnitude(T x) {
  return map(x, [](V v) HWY_ATTR { return hn::Abs(v); });
}

// The magnitude of y, which is not negative, with the sign of x.
template <typename T>
HWY_INLINE T with_sign_of(T x, T y) {
  return map(x, y, [](V v, V size) HWY_ATTR { return hn::CopySignToAbs(size, v); });
}

HWY_INLINE auto within(V limit, V x) { return hn::Le(hn::Abs(x), limit); }
template <typename T>
HWY_INLINE auto within(V limit, Two<T> x) {
  return hn::And(within(limit, x.a), within(limit, x.b));
}
template <typename T>
HWY_INLINE bool all_within(float bound, T x) {
  return hn::AllTrue(F(), within(hn::Set(F(), bound), x));
}

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
