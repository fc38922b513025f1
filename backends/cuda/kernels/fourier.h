// Complex numbers as pairs, which a library transforms, and as two tensors, real and imaginary parts, which programs
// have. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "ir/semantics/device.h"

namespace burn::cuda {

template <typename T>
struct alignas(2 * sizeof(T)) Pair {
  T re, im;
};

// Which of a spectrum's numbers have no imaginary part: those at 0 and at `last` along the transform, whose index is
// the element's number / step % size. size 0: all have one.
struct RealEnds {
  std::int64_t step = 1, size = 0, last = 0;

  BURN_ALWAYS_INLINE bool has(std::int64_t i) const {
    if (size == 0) return false;
    const auto k = i / step % size;
    return k == 0 || k == last;
  }
};

// The walk goes over the pairs, row-major; its operands are where the parts lie.
template <typename T>
BURN_ALWAYS_INLINE void join(const T* re, const T* im, Pair<T>* y, std::int64_t count, const RealEnds& ends,
                             const Walk<2>& walk) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto at = offsets(walk, i);
  y[i] = {re[at.at[0]], ends.has(i) ? T{0} : im[at.at[1]]};
}

template <typename T>
BURN_ALWAYS_INLINE void split(const Pair<T>* x, T* re, T* im, std::int64_t count, const Walk<2>& walk) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const auto at = offsets(walk, i);
  const auto pair = x[i];
  re[at.at[0]] = pair.re;
  im[at.at[1]] = pair.im;
}

}  // namespace burn::cuda
