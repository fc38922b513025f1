// Conversion between numbers of arithmetic types, as ir::Cast means it. The 16-bit floats are converted by way of
// float. Read by NVRTC, too (ir/semantics/device.h).
#pragma once

#include "ir/semantics/device.h"

namespace burn::ir {

// Toward zero, saturating; NaN gives 0.
template <typename To, typename From>
BURN_ALWAYS_INLINE constexpr To saturate(From x) {
  constexpr From kLowest = static_cast<From>(std::numeric_limits<To>::min());
  // NOLINTNEXTLINE(bugprone-integer-division): half of the maximum and one is exact
  constexpr From kBeyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;  // exact, unlike the maximum
  if (x >= kBeyond) return std::numeric_limits<To>::max();
  if (x <= kLowest) return std::numeric_limits<To>::min();
  return x != x ? To{0} : static_cast<To>(x);  // NOLINT(misc-redundant-expression): NaN alone differs from itself
}

// To bool as != 0; floats to integers as saturate(); integers to integers modulo 2^n.
template <typename To, typename From>
BURN_ALWAYS_INLINE constexpr To convert_number(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturate<To>(x);
  else
    return static_cast<To>(x);
}

}  // namespace burn::ir
