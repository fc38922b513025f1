// Running combinations along lines. NVRTC only.
//
// What runs is of type A, which may be wider than the elements. Three kernels: one thread per line, for lines that lie
// side by side; one block per line or part of one; and, before the latter, the totals of parts.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/row.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// `lines` walks the lines: 0: x, 1: y.
template <typename T, typename A, typename Op>
BURN_ALWAYS_INLINE void scan_columns(const T* __restrict__ x, T* __restrict__ y, const Walk<2>& lines,
                                     const ScanShape& shape) {
  const auto line = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (line >= shape.lines) return;
  const auto at = offsets(lines, line);
  A total = Op::template identity<A>();
#pragma unroll 4
  for (std::int64_t i = 0; i < shape.size; ++i) {
    total = Op::combine(total, static_cast<A>(to_compute(x[at.at[0] + i * shape.from_step])));
    y[at.at[1] + i * shape.to_step] = to_storage<T>(static_cast<compute_t<T>>(total));
  }
}

template <typename A>
BURN_ALWAYS_INLINE A shuffle_up(A x, int distance) {
  if constexpr (std::is_floating_point_v<A> || sizeof(A) >= 4)
    return __shfl_up_sync(0xffffffffu, x, distance);
  else
    return static_cast<A>(__shfl_up_sync(0xffffffffu, static_cast<int>(x), distance));
}

// The combination of all threads before this one, and of the whole block in `total`.
template <typename Op, typename A>
BURN_ALWAYS_INLINE A scan_block(A x, A& total) {
  constexpr int kWarps = kThreads / 32;
  __shared__ A warps[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const auto before = shuffle_up(x, distance);
    if (lane >= distance) x = Op::combine(before, x);
  }
  __syncthreads();  // what was read from it before has been read
  if (lane == 31) warps[warp] = x;
  __syncthreads();
  auto before = shuffle_up(x, 1);
  if (lane == 0) before = Op::template identity<A>();
  A all = Op::template identity<A>(), front = all;
  for (int w = 0; w < kWarps; ++w) {
    if (w == warp) front = all;
    all = Op::combine(all, warps[w]);
  }
  total = all;
  return Op::combine(front, before);
}

// Block (line, part). `kTotals`: y is of type A and takes a number per block; else `before` may have what a running
// combination of those gave, of which a part goes on from that of the part in front of it.
template <typename T, typename A, typename Op, bool kTotals>
BURN_ALWAYS_INLINE void scan_rows(const T* __restrict__ x, void* __restrict__ y, const A* __restrict__ before,
                                  const Walk<2>& lines, const ScanShape& shape) {
  constexpr int kItems = 4;
  const std::int64_t line = blockIdx.x / shape.parts, part = blockIdx.x % shape.parts;
  const auto at = offsets(lines, line);
  const T* from = x + at.at[0];
  T* to = static_cast<T*>(y) + (kTotals ? 0 : at.at[1]);
  const auto begin = part * shape.per_part;
  const auto end = begin + shape.per_part < shape.size ? begin + shape.per_part : shape.size;
  A carry = Op::template identity<A>();
  if (before && part > 0) carry = before[blockIdx.x - 1];

  for (auto tile = begin; tile < end; tile += kItems * kThreads) {
    const auto first = tile + threadIdx.x * kItems;
    A items[kItems], own = Op::template identity<A>();
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const bool is_there = first + k < end;
      items[k] =
          is_there ? static_cast<A>(to_compute(from[(first + k) * shape.from_step])) : Op::template identity<A>();
    }
#pragma unroll
    for (int k = 0; k < kItems; ++k) own = Op::combine(own, items[k]);
    A total;
    A running = Op::combine(carry, scan_block<Op>(own, total));
    carry = Op::combine(carry, total);
    if constexpr (!kTotals) {
#pragma unroll
      for (int k = 0; k < kItems; ++k) {
        running = Op::combine(running, items[k]);
        if (first + k < end) to[(first + k) * shape.to_step] = to_storage<T>(static_cast<compute_t<T>>(running));
      }
    }
  }
  if (kTotals && threadIdx.x == 0) static_cast<A*>(y)[blockIdx.x] = carry;
}

}  // namespace burn::cuda
