// The sums of the columns of lines that blocks of another kernel have left in memory, always in the same order. NVRTC
// only.
#pragma once

#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

constexpr int kLineColumns = 32, kLinesAtOnce = 32;

// Block `block` of kLineColumns * kLinesAtOnce threads: so many of `columns` columns of x [lines, columns].
template <typename Compute, typename To>
BURN_ALWAYS_INLINE void sum_lines(const Compute* __restrict__ x, To* __restrict__ y, std::int64_t block,
                                  std::int64_t lines, std::int64_t columns) {
  constexpr int kLoads = 8;
  __shared__ Compute shared[kLinesAtOnce][kLineColumns + 1];
  const int column = threadIdx.x % kLineColumns, first = threadIdx.x / kLineColumns;
  const std::int64_t at = block * kLineColumns + column;
  Compute total = 0;
  if (at < columns) {
    std::int64_t line = first;
    for (; line + (kLoads - 1) * kLinesAtOnce < lines; line += kLoads * kLinesAtOnce) {
      Compute loaded[kLoads];
#pragma unroll
      for (int u = 0; u < kLoads; ++u) loaded[u] = x[(line + u * kLinesAtOnce) * columns + at];
#pragma unroll
      for (int u = 0; u < kLoads; ++u) total += loaded[u];
    }
    for (; line < lines; line += kLinesAtOnce) total += x[line * columns + at];
  }
  shared[first][column] = total;
  __syncthreads();
  if (first != 0 || at >= columns) return;
  for (int i = 1; i < kLinesAtOnce; ++i) total += shared[i][column];
  y[at] = to_storage<To>(total);
}

}  // namespace burn::cuda
