// Arithmetic of f32 vectors, compiled for each instruction set: what the files beside this one are made of.
#if defined(BURN_ARITHMETIC_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_ARITHMETIC_INL_H
#undef BURN_ARITHMETIC_INL_H
#else
#define BURN_ARITHMETIC_INL_H
#endif

#include <bit>
#include <cmath>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

struct Add { static HWY_INLINE V of(V a, V b) { return hn::Add(a, b); } };
struct Sub { static HWY_INLINE V of(V a, V b) { return hn::Sub(a, b); } };
struct Mul { static HWY_INLINE V of(V a, V b) { return hn::Mul(a, b); } };

// Division by the same number again and again: a product with its inverse, and one step of correction (Markstein), which a
// fused multiply-add computes without rounding. So quotients are those of a division, at a third of its price.
class DividedBy {
 public:
  explicit DividedBy(float divisor) : divisor_(hn::Set(F(), divisor)), inverse_(hn::Set(F(), 1 / divisor)) {}

  static bool takes(float divisor) { return std::abs(divisor) > 1e-18f && std::abs(divisor) < 1e18f; }
  // Of those, the powers of two: multiplying by their inverse needs no correction.
  static bool has_exact_inverse(float divisor) { return takes(divisor) && std::bit_cast<std::uint32_t>(divisor) << 9 == 0; }

  HWY_INLINE V operator()(V x) const {
    const V q = hn::Mul(x, inverse_);
    const V rest = hn::NegMulAdd(q, divisor_, x);
    const auto is_finite = hn::Lt(hn::Abs(rest), hn::Inf(F()));  // an infinite quotient leaves no rest to correct by
    return hn::IfThenElse(is_finite, hn::MulAdd(rest, inverse_, q), q);
  }

 private:
  V divisor_, inverse_;
};

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
