// How generated kernels walk strided values whose rank their text knows. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"

namespace burn::cuda {

template <typename Offset, int kOperands>
struct OffsetsOf {
  Offset at[kOperands] = {};
};

// As offsets(), with loops of a known length, and with numbers that are as wide as they have to be.
template <int kRank, typename Position, typename Offset, int kOperands>
BURN_ALWAYS_INLINE OffsetsOf<Offset, kOperands> walked(const Walk<kOperands>& walk, Position i) {
  OffsetsOf<Offset, kOperands> result;
#pragma unroll
  for (int d = kRank - 1; d >= 0; --d) {
    const auto size = static_cast<Position>(walk.sizes[d]);
    const auto quotient = d > 0 ? i / size : 0;
    const auto at = i - quotient * size;
    i = quotient;
#pragma unroll
    for (int k = 0; k < kOperands; ++k) result.at[k] += at * static_cast<Offset>(walk.strides[k][d]);
  }
  return result;
}

template <int kRank, int kOperands>
BURN_ALWAYS_INLINE auto offsets_in(const Walk<kOperands>& walk, std::int64_t i) {
  if (i < (std::int64_t{1} << 31))  // 32-bit division is several times as fast
    return walked<kRank, std::uint32_t, std::int64_t>(walk, static_cast<std::uint32_t>(i));
  return walked<kRank, std::int64_t, std::int64_t>(walk, i);
}

// Where neither positions nor offsets need more than 31 bits: 64-bit products take several instructions each.
template <int kRank, int kOperands>
BURN_ALWAYS_INLINE auto narrow_offsets_in(const Walk<kOperands>& walk, std::uint32_t i) {
  return walked<kRank, std::uint32_t, std::uint32_t>(walk, i);
}

}  // namespace burn::cuda
