// Quotients by a number that many are divided by. NVRTC only.
#pragma once

#include "ir/device.h"

namespace burn::cuda {

// A product with the reciprocal and one step of correction (Markstein), whose rest a fused multiply-add computes
// without rounding: the bits of a division, at half its price. What is too large or too small for the rest to be exact
// is divided.
class Divisor {
 public:
  BURN_ALWAYS_INLINE explicit Divisor(float divisor)
      : divisor_(divisor),
        // Where it is none, no number is in range of it.
        most_(fabsf(divisor) > 0x1p-20f && fabsf(divisor) < 0x1p20f ? 0x1p100f : 0.0f),
        inverse_(1.0f / divisor) {}

  BURN_ALWAYS_INLINE float divide(float x) const {
    const float quotient = x * inverse_;
    const float corrected = fmaf(fmaf(-quotient, divisor_, x), inverse_, quotient);
    if (fabsf(x) > 0x1p-100f && fabsf(x) < most_) return corrected;
    return x == 0.0f && most_ > 0.0f ? quotient : x / divisor_;
  }

 private:
  float divisor_, most_, inverse_;
};

}  // namespace burn::cuda
