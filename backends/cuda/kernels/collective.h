// Numbers as NCCL combines them for us: 16-bit numbers as 32-bit ones, and floats that are compared as whole numbers in
// the same order, for NCCL's own max and min forget NaN. NVRTC only.
#pragma once

#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// To 32 bits and back: of whole numbers the low half.
template <typename Wide, typename T>
BURN_ALWAYS_INLINE Wide widened(T x) {
  return static_cast<Wide>(to_compute<T>(x));
}
template <typename T, typename Wide>
BURN_ALWAYS_INLINE T narrowed(Wide x) {
  return to_storage<T>(static_cast<compute_t<T>>(x));
}

// The bits of a float, those of a negative one turned, so that whole numbers are in the order of the floats. NaN is
// beyond all others, on the side that wins.
template <bool kMax>
BURN_ALWAYS_INLINE int to_order(float x) {
  if (x != x) return kMax ? 0x7fffffff : -0x7fffffff - 1;
  const int bits = __float_as_int(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
template <bool kMax>
BURN_ALWAYS_INLINE long long to_order(double x) {
  if (x != x) return kMax ? 0x7fffffffffffffffll : -0x7fffffffffffffffll - 1;
  const long long bits = __double_as_longlong(x);
  return bits < 0 ? bits ^ 0x7fffffffffffffffll : bits;
}
template <bool kMax>
BURN_ALWAYS_INLINE float from_order(int x) {
  if (x == (kMax ? 0x7fffffff : -0x7fffffff - 1)) return __int_as_float(0x7fc00000);
  return __int_as_float(x < 0 ? x ^ 0x7fffffff : x);
}
template <bool kMax>
BURN_ALWAYS_INLINE double from_order(long long x) {
  if (x == (kMax ? 0x7fffffffffffffffll : -0x7fffffffffffffffll - 1)) return __longlong_as_double(0x7ff8000000000000ll);
  return __longlong_as_double(x < 0 ? x ^ 0x7fffffffffffffffll : x);
}

}  // namespace burn::cuda
