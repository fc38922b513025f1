// NaN for every element type: whole numbers are never it.
#pragma once

#include <cmath>
#include <type_traits>

namespace burn::backends::cpu {

template <typename T>
[[gnu::always_inline]] constexpr bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(x);
  } else {
    return false;
  }
}

}  // namespace burn::backends::cpu
