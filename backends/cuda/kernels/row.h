// What generated kernels over rows share: a row belongs to kLanes threads, a warp or a whole block. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/offsets.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

template <typename T>
BURN_ALWAYS_INLINE T shuffle_xor(T x, int mask) {
  if constexpr (std::is_floating_point_v<T> || sizeof(T) >= 4)
    return __shfl_xor_sync(0xffffffffu, x, mask);
  else
    return static_cast<T>(__shfl_xor_sync(0xffffffffu, static_cast<int>(x), mask));
}

template <typename Op, typename T>
BURN_ALWAYS_INLINE T reduce_warp(T x) {
  for (int mask = 16; mask > 0; mask /= 2) x = Op::combine(x, shuffle_xor(x, mask));
  return x;
}

// Of all lanes of a row, in all of them. Each call of a kernel is a site of its own, with memory of its own, so that
// nobody has to wait until another call's numbers have been read.
template <int kLanes, typename Op, int kSite = 0, typename T>
BURN_ALWAYS_INLINE T reduce_row(T x) {
  x = reduce_warp<Op>(x);
  if constexpr (kLanes > 32) {
    __shared__ T partial[kLanes / 32];
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = partial[0];
    for (int i = 1; i < kLanes / 32; ++i) x = Op::combine(x, partial[i]);
  }
  return x;
}

// Says that what lies there will be read soon.
template <typename T>
BURN_ALWAYS_INLINE void prefetch(const T* p) {
  asm volatile("prefetch.L2 [%0];" ::"l"(p));
}

// "index 12 is outside": any thread's is as good as another's.
BURN_ALWAYS_INLINE bool index_is_inside(std::int64_t index, std::int64_t size, std::int64_t* report) {
  if (index >= 0 && index < size) return true;
  report[0] = index;
  report[1] = 1;
  return false;
}

}  // namespace burn::cuda
