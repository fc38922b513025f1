// Element types in memory and in registers. Compiled by NVRTC alone.
#pragma once

#include "backends/cuda/kernels/number.h"
#include "ir/semantics/combine.h"
#include "ir/semantics/convert.h"
#include "ir/semantics/device.h"
#include "ir/semantics/prelude.h"

namespace burn::cuda {

// The 16-bit floats as they lie in memory; arithmetic on them is float's, rounded once to nearest even.
struct half_t {
  unsigned short bits;
};
struct bfloat16_t {
  unsigned short bits;
};

template <typename T>
struct ComputeOf : std::type_identity<T> {};
template <>
struct ComputeOf<half_t> : std::type_identity<float> {};
template <>
struct ComputeOf<bfloat16_t> : std::type_identity<float> {};
// What arithmetic on a storage type happens in.
template <typename T>
using compute_t = typename ComputeOf<T>::type;

template <typename T>
BURN_ALWAYS_INLINE compute_t<T> to_compute(T x) {
  if constexpr (std::is_same_v<T, half_t>) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
  } else {
    return x;
  }
}

template <typename T>
BURN_ALWAYS_INLINE T to_storage(compute_t<T> x) {
  if constexpr (std::is_same_v<T, half_t>) {
    half_t y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    bfloat16_t y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  } else {
    return x;
  }
}

// A number as it is after it has been in memory as T.
template <typename T>
BURN_ALWAYS_INLINE compute_t<T> rounded(compute_t<T> x) {
  if constexpr (sizeof(T) == sizeof(compute_t<T>)) {
    return x;
  } else if constexpr (std::is_same_v<T, bfloat16_t>) {
    // The instruction that rounds two runs at four times the rate of that for one (on sm_90), and the upper half of its
    // result is where an f32 wants it.
    unsigned y;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(x), "f"(0.0f));
    return __uint_as_float(y);
  } else {
    return to_compute<T>(to_storage<T>(x));
  }
}

// So many elements in one access.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T lanes[kCount];
};

}  // namespace burn::cuda
