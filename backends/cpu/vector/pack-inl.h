// Four vectors that go through a function side by side. Its steps depend on each other, and an addition takes the time
// of several: in this order the processor has something to do meanwhile, where one vector after the other fills its
// queues with steps that wait. A function over T below is one over vectors and over packs.
#if defined(BURN_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_PACK_INL_H
#undef BURN_PACK_INL_H
#else
#define BURN_PACK_INL_H
#endif

#include <type_traits>

#include "backends/cpu/vector/arithmetic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

struct Pack {
  V a, b, c, d;
};

template <typename Op>
HWY_INLINE V map(V x, const Op& op) {
  return op(x);
}
template <typename Op>
HWY_INLINE Pack map(Pack x, const Op& op) {
  return {op(x.a), op(x.b), op(x.c), op(x.d)};
}

template <typename T>
HWY_INLINE T constant(double x) {
  const V v = hn::Set(F(), static_cast<float>(x));
  if constexpr (std::is_same_v<T, Pack>)
    return {v, v, v, v};
  else
    return v;
}

#define BURN_LIFT(name, Op)                                                          \
  HWY_INLINE V name(V x, V y) { return hn::Op(x, y); }                               \
  HWY_INLINE Pack name(Pack x, Pack y) {                                             \
    return {hn::Op(x.a, y.a), hn::Op(x.b, y.b), hn::Op(x.c, y.c), hn::Op(x.d, y.d)}; \
  }
BURN_LIFT(add, Add)
BURN_LIFT(sub, Sub)
BURN_LIFT(mul, Mul)
BURN_LIFT(div, Div)
BURN_LIFT(min, Min)
BURN_LIFT(max, Max)
#undef BURN_LIFT

#define BURN_LIFT(name, Op)                                                                              \
  HWY_INLINE V name(V x, V y, V z) { return hn::Op(x, y, z); }                                           \
  HWY_INLINE Pack name(Pack x, Pack y, Pack z) {                                                         \
    return {hn::Op(x.a, y.a, z.a), hn::Op(x.b, y.b, z.b), hn::Op(x.c, y.c, z.c), hn::Op(x.d, y.d, z.d)}; \
  }
BURN_LIFT(mul_add, MulAdd)
BURN_LIFT(mul_sub, MulSub)
BURN_LIFT(neg_mul_add, NegMulAdd)
#undef BURN_LIFT

HWY_INLINE V magnitude(V x) { return hn::Abs(x); }
HWY_INLINE Pack magnitude(Pack x) { return {hn::Abs(x.a), hn::Abs(x.b), hn::Abs(x.c), hn::Abs(x.d)}; }

// The size of y, which is not negative, with the sign of x.
HWY_INLINE V with_sign_of(V x, V y) { return hn::CopySignToAbs(y, x); }
HWY_INLINE Pack with_sign_of(Pack x, Pack y) {
  return {with_sign_of(x.a, y.a), with_sign_of(x.b, y.b), with_sign_of(x.c, y.c), with_sign_of(x.d, y.d)};
}

HWY_INLINE Pack load_pack(const float* x) {
  const std::size_t lanes = hn::Lanes(F());
  return {hn::LoadU(F(), x), hn::LoadU(F(), x + lanes), hn::LoadU(F(), x + 2 * lanes), hn::LoadU(F(), x + 3 * lanes)};
}

HWY_INLINE void store_pack(Pack v, float* y) {
  const std::size_t lanes = hn::Lanes(F());
  hn::StoreU(v.a, F(), y);
  hn::StoreU(v.b, F(), y + lanes);
  hn::StoreU(v.c, F(), y + 2 * lanes);
  hn::StoreU(v.d, F(), y + 3 * lanes);
}

HWY_INLINE bool all_within(float bound, V x) { return hn::AllTrue(F(), hn::Le(hn::Abs(x), hn::Set(F(), bound))); }
HWY_INLINE bool all_within(float bound, Pack x) {
  const V limit = hn::Set(F(), bound);
  const auto is_within = [limit](V v) HWY_ATTR { return hn::Le(hn::Abs(v), limit); };
  return hn::AllTrue(F(), hn::And(hn::And(is_within(x.a), is_within(x.b)), hn::And(is_within(x.c), is_within(x.d))));
}

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
