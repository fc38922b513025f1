// Recurrences over rows: a block per sequence, whose threads go through the rows together. NVRTC only.
#pragma once

#include "backends/cuda/kernels/shapes.h"
#include "ir/semantics/device.h"

namespace burn::cuda {

struct LinearSum {
  template <typename T>
  BURN_ALWAYS_INLINE static T of(T total, T weight, T y) {
    return total + weight * y;
  }
};

// log(e^total + e^(weight + y)).
struct LogSum {
  template <typename T>
  BURN_ALWAYS_INLINE static T of(T total, T weight, T y) {
    constexpr auto kInfinity = [] { return std::numeric_limits<T>::infinity(); };
    const T term = weight + y;
    if (term == -kInfinity()) return total;
    if (total == -kInfinity()) return term;
    const T high = total < term ? term : total, low = total < term ? total : term;
    if (high == kInfinity()) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

// b, y: [n, rows, width]; w: [n, rows, band, width]; all row-major. y is read where other threads of the block wrote it
// a row before.
template <typename T, typename Sum, bool kAdjoint>
BURN_ALWAYS_INLINE void banded_scan(const T* __restrict__ b, const T* __restrict__ w, T* y, const LatticeShape& shape) {
  const auto sequence = std::int64_t{blockIdx.x} * shape.rows * shape.width;
  b += sequence, y += sequence, w += sequence * shape.band;
  for (std::int64_t step = 0; step < shape.rows; ++step) {
    const auto t = kAdjoint ? shape.rows - 1 - step : step;
    const T* other = y + (kAdjoint ? t + 1 : t - 1) * shape.width;
    const T* weights = w + (kAdjoint ? t + 1 : t) * shape.band * shape.width;
    for (std::int64_t i = threadIdx.x; i < shape.width; i += kThreads) {
      T total = b[t * shape.width + i];
      for (std::int64_t j = 0; step > 0 && j < shape.band; ++j) {
        const auto from = kAdjoint ? i + j : i - j;
        if (from < 0 || from >= shape.width) break;
        total = Sum::of(total, weights[j * shape.width + (kAdjoint ? from : i)], other[from]);
      }
      y[t * shape.width + i] = total;
    }
    __syncthreads();
  }
}

}  // namespace burn::cuda
