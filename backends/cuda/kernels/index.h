// How kernels walk strided values. Read by the C++ compiler, which fills these in, and by NVRTC
// (ir/semantics/device.h).
#pragma once

#include "ir/semantics/device.h"

namespace burn::cuda {

// Up to eight dims, outermost first, with the strides (in elements) of up to `kOperands` values along them. A dim that
// is not there has size 1. Passed to kernels by value.
template <int kOperands>
struct Walk {
  static constexpr int kMaxRank = 8;
  int rank = 0;
  std::int64_t sizes[kMaxRank] = {};
  std::int64_t strides[kOperands][kMaxRank] = {};
};

// Where the `i`-th element, row-major over the walk's sizes, lies in each value.
template <int kOperands>
struct Offsets {
  std::int64_t at[kOperands] = {};
};

template <int kOperands>
BURN_ALWAYS_INLINE Offsets<kOperands> offsets(const Walk<kOperands>& walk, std::int64_t i) {
  Offsets<kOperands> result;
  if (i < (std::int64_t{1} << 31)) {  // 32-bit division is several times as fast
    auto rest = static_cast<std::uint32_t>(i);
    for (int d = walk.rank - 1; d > 0; --d) {
      const auto size = static_cast<std::uint32_t>(walk.sizes[d]);
      const auto quotient = rest / size;
      const auto at = rest - quotient * size;
      rest = quotient;
      for (int k = 0; k < kOperands; ++k) result.at[k] += at * walk.strides[k][d];
    }
    if (walk.rank > 0)
      for (int k = 0; k < kOperands; ++k) result.at[k] += rest * walk.strides[k][0];
    return result;
  }
  for (int d = walk.rank - 1; d >= 0; --d) {
    const auto quotient = d > 0 ? i / walk.sizes[d] : 0;
    const auto at = i - quotient * walk.sizes[d];
    i = quotient;
    for (int k = 0; k < kOperands; ++k) result.at[k] += at * walk.strides[k][d];
  }
  return result;
}

}  // namespace burn::cuda
