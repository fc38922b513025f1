// Reductions over strided values, in the compute type of what they read, or, of integers, in the type of the result,
// which may be wider. Both kernels can take a part of every output's elements each (blockIdx.y) and leave a result per
// part, which a second launch reduces: no atomics, so that results are the same every time. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/row.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// What elements of From are combined in on their way to a result of To.
template <typename From, typename To, bool kIsInteger = std::is_integral_v<To>>
struct TotalOf : std::type_identity<compute_t<From>> {};
template <typename From, typename To>
struct TotalOf<From, To, true> : std::type_identity<To> {};
template <typename From, typename To>
using total_t = typename TotalOf<From, To>::type;

template <typename Op, typename Total, typename T, int kWidth>
BURN_ALWAYS_INLINE void fold_pack(const Pack<T, kWidth>& pack, Total (&totals)[kWidth]) {
#pragma unroll
  for (int k = 0; k < kWidth; ++k) totals[k] = Op::combine(totals[k], static_cast<Total>(to_compute(pack.lanes[k])));
}

// Folds packs `first`, `first + step`, ... below `end` of a walk into `totals`, with several loads under way at a time.
// `kLine`: the walk has one dim, so that nothing is divided.
template <typename Op, bool kLine, typename Total, int kWidth, typename T>
BURN_ALWAYS_INLINE void fold_packs(const T* __restrict__ x, const Walk<1>& walk, std::int64_t first, std::int64_t end,
                                   std::int64_t step, Total (&totals)[kWidth]) {
  using Packed = Pack<T, kWidth>;
  constexpr int kLoads = kLine ? (sizeof(Packed) >= 16 ? 4 : 8) : 2;
  const auto load = [&](std::int64_t i) {
    return *reinterpret_cast<const Packed*>(x + (kLine ? i * walk.strides[0][0] : offsets(walk, i).at[0]));
  };
  auto i = first;
  for (; i + (kLoads - 1) * step < end; i += kLoads * step) {
    Packed packs[kLoads];
#pragma unroll
    for (int u = 0; u < kLoads; ++u) packs[u] = load(i + u * step);
#pragma unroll
    for (int u = 0; u < kLoads; ++u) fold_pack<Op>(packs[u], totals);
  }
#pragma unroll 1
  for (; i < end; i += step) fold_pack<Op>(load(i), totals);
}

// Of `group` neighbouring threads, in all of them; `group` is a power of two up to 32, or kThreads.
template <typename Op, typename T>
BURN_ALWAYS_INLINE T reduce_group(T x, int group) {
  if (group == kThreads) return reduce_row<kThreads, Op>(x);
  for (int mask = group / 2; mask > 0; mask /= 2) x = Op::combine(x, shuffle_xor(x, mask));
  return x;
}

// `kept` walks the outputs: 0: x, 1: y. `reduced` walks the packs of one.
template <typename From, typename To, typename Op, int kWidth, bool kLine>
BURN_ALWAYS_INLINE void reduce_rows(const From* __restrict__ x, To* __restrict__ y, const Walk<2>& kept,
                                    const Walk<1>& reduced, const RowsShape& shape) {
  using Compute = total_t<From, To>;
  const int lane = threadIdx.x & (shape.group - 1);
  const std::int64_t part = blockIdx.y;
  const auto output = std::int64_t{blockIdx.x} * (kThreads / shape.group) + threadIdx.x / shape.group;
  const bool is_there = output < shape.outputs;
  const auto at = offsets(kept, is_there ? output : 0);

  Compute totals[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) totals[k] = Op::template identity<Compute>();
  if (is_there) {
    const auto begin = part * shape.per_part, end = begin + shape.per_part;
    fold_packs<Op, kLine, Compute, kWidth>(x + at.at[0], reduced, begin + lane, end < shape.packs ? end : shape.packs,
                                           shape.group, totals);
    if (part == 0) {
      for (auto i = lane; i < shape.tail; i += shape.group)
        totals[0] = Op::combine(totals[0], static_cast<Compute>(to_compute(x[at.at[0] + shape.tail_at + i])));
    }
  }
#pragma unroll
  for (int k = 1; k < kWidth; ++k) totals[0] = Op::combine(totals[0], totals[k]);
  const auto total = reduce_group<Op>(totals[0], shape.group);
  if (is_there && lane == 0) y[at.at[1] + part * shape.part_step] = to_storage<To>(total);
}

// `kept` walks packs of outputs: 0: x, 1: y. `reduced` walks the elements of one.
template <typename From, typename To, typename Op, int kWidth, bool kLine>
BURN_ALWAYS_INLINE void reduce_columns(const From* __restrict__ x, To* __restrict__ y, const Walk<2>& kept,
                                       const Walk<1>& reduced, const ColumnsShape& shape) {
  using Compute = total_t<From, To>;
  __shared__ Compute shared[kWidth][kThreads];
  const int rows = kThreads / shape.width, column = threadIdx.x & (shape.width - 1), row = threadIdx.x / shape.width;
  const std::int64_t part = blockIdx.y;
  const auto pack = std::int64_t{blockIdx.x} * shape.width + column;
  const bool is_there = pack < shape.packs;
  const auto at = offsets(kept, is_there ? pack : 0);

  Compute totals[kWidth];
#pragma unroll
  for (int k = 0; k < kWidth; ++k) totals[k] = Op::template identity<Compute>();
  if (is_there) {
    const auto begin = part * shape.per_part, end = begin + shape.per_part;
    fold_packs<Op, kLine, Compute, kWidth>(x + at.at[0], reduced, begin + row, end < shape.rows ? end : shape.rows,
                                           rows, totals);
  }
  for (int half = rows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (row >= half && row < 2 * half) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) shared[k][threadIdx.x] = totals[k];
    }
    __syncthreads();
    if (row < half) {
#pragma unroll
      for (int k = 0; k < kWidth; ++k) totals[k] = Op::combine(totals[k], shared[k][threadIdx.x + half * shape.width]);
    }
  }
  if (!is_there || row != 0) return;
#pragma unroll
  for (int k = 0; k < kWidth; ++k)
    y[at.at[1] + part * shape.part_step + k * shape.result_step] = to_storage<To>(totals[k]);
}

}  // namespace burn::cuda
