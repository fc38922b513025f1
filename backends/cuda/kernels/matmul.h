// Products of matrices of numbers that no library multiplies. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// One element of c per thread; a and b may have any strides: `walk` goes over batch, rows and columns of c, the strides
// along k are given apart.
template <typename T>
BURN_ALWAYS_INLINE void multiply(const T* a, const T* b, T* c, std::int64_t count, std::int64_t k, std::int64_t a_step,
                                 std::int64_t b_step, const Walk<2>& walk) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto at = offsets(walk, i);
  compute_t<T> sum{};
  for (std::int64_t j = 0; j < k; ++j) {
    sum = static_cast<compute_t<T>>(sum +
                                    to_compute<T>(a[at.at[0] + j * a_step]) * to_compute<T>(b[at.at[1] + j * b_step]));
  }
  c[i] = to_storage<T>(sum);
}

}  // namespace burn::cuda
