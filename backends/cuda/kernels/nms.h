// Non-maximum suppression, in tiles of kThreads boxes: a block resolves a tile, then each box behind it is compared
// with those that are left. NVRTC only.
#pragma once

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

template <typename Compute>
struct Box {
  Compute x1, y1, x2, y2, area;
};

template <typename T>
BURN_ALWAYS_INLINE Box<compute_t<T>> box_at(const T* __restrict__ x) {
  const compute_t<T> x1 = to_compute(x[0]), y1 = to_compute(x[1]), x2 = to_compute(x[2]), y2 = to_compute(x[3]);
  return {x1, y1, x2, y2, (x2 - x1) * (y2 - y1)};
}

// Whether they share more than `threshold` of their union; false with NaN.
template <typename Compute>
BURN_ALWAYS_INLINE bool overlap(const Box<Compute>& a, const Box<Compute>& b, Compute threshold) {
  const Compute width = (a.x2 < b.x2 ? a.x2 : b.x2) - (a.x1 < b.x1 ? b.x1 : a.x1);
  const Compute height = (a.y2 < b.y2 ? a.y2 : b.y2) - (a.y1 < b.y1 ? b.y1 : a.y1);
  const Compute shared = (width < 0 ? 0 : width) * (height < 0 ? 0 : height);
  return shared / (a.area + b.area - shared) > threshold;
}

// Block `blockIdx.x`: the tile of one list. Reads of `kept` which boxes those before the tile have left, unless it is
// the first one.
template <typename T>
BURN_ALWAYS_INLINE void resolve_tile(const T* __restrict__ x, bool* __restrict__ kept, const NmsShape& shape) {
  constexpr int kWords = kThreads / 32;
  using Compute = compute_t<T>;
  __shared__ Box<Compute> boxes[kThreads];
  __shared__ unsigned overlaps[kThreads][kWords];  // by those before it in the tile, a bit each
  __shared__ unsigned left[kWords];
  const int thread = threadIdx.x;
  const std::int64_t list = blockIdx.x, at = list * shape.size + shape.begin + thread;
  const bool is_box = shape.begin + thread < shape.size;
  if (is_box) boxes[thread] = box_at(x + at * 4);
  const bool is_left = is_box && (shape.begin == 0 || kept[at]);
  const unsigned word = __ballot_sync(0xffffffffu, is_left);
  if (thread % 32 == 0) left[thread / 32] = word;
  __syncthreads();
  for (int w = 0; w < kWords; ++w) {
    unsigned bits = 0;
    for (int k = 0; k < 32; ++k) {
      const int other = w * 32 + k;
      if (is_box && other < thread && overlap(boxes[other], boxes[thread], static_cast<Compute>(shape.threshold)))
        bits |= 1u << k;
    }
    overlaps[thread][w] = bits;
  }
  __syncthreads();
  if (thread < 32) {  // lane w has the word w of those that are kept
    unsigned mine = thread < kWords ? left[thread] : 0;
    for (int i = 0; i < kThreads; ++i) {
      const unsigned hit = thread < kWords ? mine & overlaps[i][thread] : 0;
      const bool is_hit = __any_sync(0xffffffffu, hit != 0);
      if (is_hit && thread == i / 32) mine &= ~(1u << (i % 32));
    }
    if (thread < kWords) left[thread] = mine;
  }
  __syncthreads();
  if (is_box) kept[at] = (left[thread / 32] >> (thread % 32) & 1u) != 0;
}

// A thread for each box behind the tile, in blocks of one list each. Requires: the tile is whole.
template <typename T>
BURN_ALWAYS_INLINE void suppress_behind(const T* __restrict__ x, bool* __restrict__ kept, const NmsShape& shape) {
  using Compute = compute_t<T>;
  __shared__ Box<Compute> boxes[kThreads];
  __shared__ bool is_kept[kThreads];
  const std::int64_t list = blockIdx.x % shape.lists, block = blockIdx.x / shape.lists;
  const std::int64_t first = list * shape.size + shape.begin;
  boxes[threadIdx.x] = box_at(x + (first + threadIdx.x) * 4);
  is_kept[threadIdx.x] = kept[first + threadIdx.x];
  __syncthreads();
  const std::int64_t i = shape.begin + kThreads + block * kThreads + threadIdx.x;
  if (i >= shape.size) return;
  const std::int64_t at = list * shape.size + i;
  if (shape.begin > 0 && !kept[at]) return;
  const Box<Compute> box = box_at(x + at * 4);
  bool stays = true;
  for (int k = 0; k < kThreads && stays; ++k)
    stays = !(is_kept[k] && overlap(boxes[k], box, static_cast<Compute>(shape.threshold)));
  kept[at] = stays;
}

}  // namespace burn::cuda
