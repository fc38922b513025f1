// Arithmetic of f32 vectors, compiled for each instruction set, for the other files of this folder.
#if defined(BURN_ARITHMETIC_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_ARITHMETIC_INL_H
#undef BURN_ARITHMETIC_INL_H
#else
#define BURN_ARITHMETIC_INL_H
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include <hwy/highway.h>

#include "ir/ops/pointwise.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

#if BURN_ONLY_LEVEL >= 3
static_assert(HWY_TARGET == (BURN_ONLY_LEVEL == 4 ? HWY_AVX3 : HWY_AVX2), "Highway compiles for another level");
#endif

namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

// Steps of a chain.
struct Add {
  static constexpr auto kFn = ir::PointwiseFn::add;
  static HWY_INLINE V of(V a, V b) { return hn::Add(a, b); }
};
struct Sub {
  static constexpr auto kFn = ir::PointwiseFn::sub;
  static HWY_INLINE V of(V a, V b) { return hn::Sub(a, b); }
};
struct Mul {
  static constexpr auto kFn = ir::PointwiseFn::mul;
  static HWY_INLINE V of(V a, V b) { return hn::Mul(a, b); }
};
struct Div {
  static constexpr auto kFn = ir::PointwiseFn::div;
  static HWY_INLINE V of(V a, V b) { return hn::Div(a, b); }
};

// Division by the same number many times: a product with its inverse, and one correction step (Markstein), which a
// fused multiply-add computes without rounding. So quotients equal those of a division, at a third of the cost. For
// positive divisors: the remainder is written so that -0 stays -0, which it would not with negative ones. A quotient
// within a unit of the largest number may be infinite.
class DividedBy {
 public:
  explicit DividedBy(float divisor) : divisor_(hn::Set(F(), divisor)), inverse_(hn::Set(F(), 1 / divisor)) {}

  static bool takes(float divisor) { return divisor > 1e-18f && divisor < 1e18f; }
  // Powers of two, also negative ones: multiplying by their inverse needs no correction.
  static bool has_exact_inverse(float divisor) {
    return takes(std::abs(divisor)) && std::bit_cast<std::uint32_t>(divisor) << 9 == 0;
  }

  HWY_INLINE V operator()(V x) const {
    const V q = hn::Mul(x, inverse_);
    const V corrected = hn::NegMulAdd(hn::MulSub(q, divisor_, x), inverse_, q);
    // An infinite quotient leaves no remainder to correct by.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    const auto if_nan = _mm512_set1_epi32(0x11111100);  // by the class of the second: 0 the first, 1 the second
    return V{_mm512_fixupimm_ps(q.raw, corrected.raw, if_nan, 0)};
#else
    return hn::IfThenElse(hn::IsNaN(corrected), q, corrected);
#endif
  }

 private:
  V divisor_, inverse_;
};

// The first n < Lanes elements, followed by zeros.
HWY_INLINE V load_some(const float* x, std::int64_t n) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(x, n, some);
  return hn::Load(F(), some);
#else
  return hn::MaskedLoad(hn::FirstN(F(), static_cast<std::size_t>(n)), F(), x);
#endif
}

// The vectors of an operand one after the other. A repeated number is read each time from a vector filled with it, so
// that one loop serves all strides.
class Source {
 public:
  void start(const void* data, std::int64_t stride) {
    x_ = static_cast<const float*>(data);
    step_ = stride == 0 ? 0 : 1;
    if (step_ != 0) return;
    std::fill_n(repeated_, hn::Lanes(F()), *x_);
    x_ = repeated_;
  }
  // Iterates from the first vector on. Held by value, as members behind a pointer are read again after each store.
  class Cursor {
   public:
    Cursor(const float* x, std::int64_t step) : x_(x), step_(step) {}
    HWY_INLINE V next() {
      const V v = hn::LoadU(F(), x_);
      x_ += step_;
      return v;
    }

   private:
    const float* x_;
    std::int64_t step_;
  };
  Cursor begin() const { return {x_, step_ * static_cast<std::int64_t>(hn::Lanes(F()))}; }
  // The last n < Lanes elements, followed by zeros.
  V rest(std::int64_t i, std::int64_t n) const { return step_ == 0 ? hn::LoadU(F(), x_) : load_some(x_ + i, n); }

 private:
  const float* x_ = nullptr;
  std::int64_t step_ = 0;
  HWY_ALIGN float repeated_[HWY_MAX_BYTES / sizeof(float)];
};

inline bool is_aligned(const float* y) {
  return reinterpret_cast<std::uintptr_t>(y) % (hn::Lanes(F()) * sizeof(float)) == 0;
}

// Requires, if kPastCaches: y is aligned.
template <bool kPastCaches>
HWY_INLINE void store(V v, float* y) {
  if constexpr (kPastCaches)
    hn::Stream(v, F(), y);
  else
    hn::StoreU(v, F(), y);
}

// The first n < Lanes elements.
HWY_INLINE void store_some(V v, std::int64_t n, float* y) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, F(), some);
  std::copy_n(some, n, y);
#else
  hn::BlendedStore(v, hn::FirstN(F(), static_cast<std::size_t>(n)), F(), y);
#endif
}

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
