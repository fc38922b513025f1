// How generated kernels walk strided values whose rank their text knows. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"

namespace burn::cuda {

// As offsets(), with loops of a known length.
template <int kRank, int kOperands>
BURN_ALWAYS_INLINE Offsets<kOperands> offsets_in(const Walk<kOperands>& walk, std::int64_t i) {
  Offsets<kOperands> result;
  const auto take = [&](std::int64_t at, int d) {
#pragma unroll
    for (int k = 0; k < kOperands; ++k) result.at[k] += at * walk.strides[k][d];
  };
  if (i < (std::int64_t{1} << 31)) {  // 32-bit division is several times as fast
    auto rest = static_cast<std::uint32_t>(i);
#pragma unroll
    for (int d = kRank - 1; d > 0; --d) {
      const auto size = static_cast<std::uint32_t>(walk.sizes[d]);
      const auto quotient = rest / size;
      take(rest - quotient * size, d);
      rest = quotient;
    }
    take(rest, 0);
    return result;
  }
#pragma unroll
  for (int d = kRank - 1; d > 0; --d) {
    const auto quotient = i / walk.sizes[d];
    take(i - quotient * walk.sizes[d], d);
    i = quotient;
  }
  take(i, 0);
  return result;
}

template <int kOperands>
struct NarrowOffsets {
  std::uint32_t at[kOperands] = {};
};

// The same where neither positions nor offsets need more than 31 bits: 64-bit products take several instructions each.
template <int kRank, int kOperands>
BURN_ALWAYS_INLINE NarrowOffsets<kOperands> narrow_offsets_in(const Walk<kOperands>& walk, std::uint32_t i) {
  NarrowOffsets<kOperands> result;
#pragma unroll
  for (int d = kRank - 1; d >= 0; --d) {
    const auto size = static_cast<std::uint32_t>(walk.sizes[d]);
    const auto quotient = d > 0 ? i / size : 0;
    const auto at = i - quotient * size;
    i = quotient;
#pragma unroll
    for (int k = 0; k < kOperands; ++k) result.at[k] += at * static_cast<std::uint32_t>(walk.strides[k][d]);
  }
  return result;
}

}  // namespace burn::cuda
