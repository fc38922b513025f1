// The ways of combining two elements, shared by reductions, scans and scatters.
#pragma once

#include <limits>
#include <type_traits>

#include "backends/cpu/ops/numbers.h"

namespace burn::backends::cpu {

// `kWidens`: many of them in a row want a wider type than the elements have.
struct Sum {
  static constexpr bool kWidens = true;
  template <typename T>
  static constexpr T identity() {
    return T{0};
  }
  template <typename T>
  [[gnu::always_inline]] static inline T combine(T a, T b) {
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
  [[gnu::always_inline]] static inline T combine(T a, T b) {
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
  [[gnu::always_inline]] static inline T combine(T a, T b) {
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
  [[gnu::always_inline]] static inline T combine(T a, T b) {
    return a <= b || is_nan(a) ? a : b;
  }
};

}  // namespace burn::backends::cpu
