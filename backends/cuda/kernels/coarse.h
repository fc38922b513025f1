// Functions of f32 whose results are rounded to 16 bits before anybody sees them; exp, too, where the terms of a
// softmax are added up, and its argument is at most 0 (fused/accuracy.h). The hardware's own approximations: off by a
// few units in the last place of f32, a relative error below 2^-17 where bf16 keeps 2^-9 and f16 2^-12. Results below
// the smallest normal number of f32 may be 0. NVRTC only.
#pragma once

#include "ir/semantics/device.h"

namespace burn::cuda::coarse {

BURN_ALWAYS_INLINE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

BURN_ALWAYS_INLINE float reciprocal_of_normal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// |x| 2^-24 for the product and 2^-22 for the function: below 2^-17 where the result is no infinity. Sums in f32 rely
// on the error near 0.
BURN_ALWAYS_INLINE float exp(float x) { return exp2(x * 1.4426950408889634f); }

BURN_ALWAYS_INLINE float sigmoid(float x) { return reciprocal_of_normal(1.0f + exp2(x * -1.4426950408889634f)); }

// tanh as 1 - 2 / (e^2x + 1), which is off by less than 2^-22: for what adds it to a number about as large as 1.
BURN_ALWAYS_INLINE float tanh_beside_one(float x) {
  return fmaf(-2.0f, reciprocal_of_normal(exp2(x * 2.8853900817779268f) + 1.0f), 1.0f);
}

// The same; near 0, where that is much of the result, the first terms of its series (the next one is x^6 17/315).
BURN_ALWAYS_INLINE float tanh(float x) {
  const float far = tanh_beside_one(x);
  const float square = x * x;
  const float near = x * fmaf(square, fmaf(square, 0.13333334f, -0.33333334f), 1.0f);
  return fabsf(x) < 0.125f ? near : far;
}

// Of all numbers, to two units in the last place.
BURN_ALWAYS_INLINE float div(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

BURN_ALWAYS_INLINE float recip(float x) {
  float y;
  asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

BURN_ALWAYS_INLINE float rsqrt(float x) {
  float y;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

BURN_ALWAYS_INLINE float sqrt(float x) {
  float y;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace burn::cuda::coarse
