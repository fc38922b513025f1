// The ways of combining two elements that reductions, scans and scatters share, with what each begins from.
// Read by NVRTC, too (ir/semantics/device.h).
#pragma once

#include "ir/semantics/device.h"

namespace burn::ir {

// False for whole numbers, which are never it.
template <typename T>
BURN_ALWAYS_INLINE constexpr bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x != x;  // NOLINT(misc-redundant-expression): true of NaN alone
  } else {
    return false;
  }
}

// `kWidens`: many of them in a row want a wider type than the elements have.
struct Sum {
  static constexpr bool kWidens = true;
  template <typename T>
  static constexpr T identity() {
    return T{0};
  }
  template <typename T>
  BURN_ALWAYS_INLINE static constexpr T combine(T a, T b) {
    return static_cast<T>(a + b);
  }
};

struct Prod {
  static constexpr bool kWidens = true;
  template <typename T>
  static constexpr T identity() {
    return T{1};
  }
  template <typename T>
  BURN_ALWAYS_INLINE static constexpr T combine(T a, T b) {
    return static_cast<T>(a * b);
  }
};

// NaN wins, on either side: not the pointwise max, which keeps a where it cannot compare.
struct Max {
  static constexpr bool kWidens = false;
  template <typename T>
  static constexpr T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return -std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::min();
  }
  template <typename T>
  BURN_ALWAYS_INLINE static constexpr T combine(T a, T b) {
#ifdef __CUDACC_RTC__
    if constexpr (std::is_same_v<T, float>) {  // one instruction instead of four
      float y;
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
      return y;
    }
#endif
    return a >= b || is_nan(a) ? a : b;
  }
};

struct Min {
  static constexpr bool kWidens = false;
  template <typename T>
  static constexpr T identity() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <typename T>
  BURN_ALWAYS_INLINE static constexpr T combine(T a, T b) {
#ifdef __CUDACC_RTC__
    if constexpr (std::is_same_v<T, float>) {
      float y;
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
      return y;
    }
#endif
    return a <= b || is_nan(a) ? a : b;
  }
};

}  // namespace burn::ir
