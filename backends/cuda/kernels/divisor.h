// Quotients by a number that many are divided by. NVRTC only.
#pragma once

#include "ir/semantics/device.h"

namespace burn::cuda {

// A product with the reciprocal and one step of correction (Markstein), whose rest a fused multiply-add computes
// without rounding: the bits of a division, without a branch and at a third of its price. Where the rest is too small
// to be exact a unit in the last place may be missing: where |x| is below 2^-100 or the quotient is subnormal; two
// where x is. A quotient within a unit of the largest number may be infinite.
class Divisor {
 public:
  // Of such signs that a quotient of 0 has the right one.
  BURN_ALWAYS_INLINE explicit Divisor(float divisor)
      : scale_(scale(divisor)), size_(fabsf(divisor * scale_)), inverse_(-reciprocal(size_)) {}

  BURN_ALWAYS_INLINE float divide(float x) const {
    const float scaled = x * scale_;
    const float quotient = scaled * inverse_;
    const float rest = fmaf(quotient, size_, scaled);
    const float corrected = fmaf(rest, inverse_, quotient);
    return fabsf(rest) < __int_as_float(0x7f800000) ? corrected : quotient;  // of an infinite one there is no rest
  }

 private:
  // A power of two: the reciprocal of what is left of the divisor is neither 0 nor infinite, nor less exact than
  // others.
  BURN_ALWAYS_INLINE static float scale(float divisor) {
    const float size = fabsf(divisor);
    const float unless_small = size > 0x1p100f ? 0x1p-32f : 1.0f;
    return copysignf(size < 0x1p-100f ? 0x1p32f : unless_small, -divisor);
  }

  // The hardware's, whose error is one unit at most, after a step of Newton's: rounded as it should be unless all bits
  // of the number's mantissa are ones.
  BURN_ALWAYS_INLINE static float reciprocal(float size) {
    float first;
    asm("rcp.approx.f32 %0, %1;" : "=f"(first) : "f"(size));
    const float error = fmaf(-size, first, 1.0f);
    return fabsf(error) < 1.0f ? fmaf(first, error, first) : first;  // of 0 and of infinity there is none
  }

  float scale_, size_, inverse_;
};

}  // namespace burn::cuda
