// Where the extreme element of a line is: the first of equals, and the first NaN before any number. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// Whether the first of two candidates is the one to take; a negative index is that of no element.
template <bool kLargest, typename T>
BURN_ALWAYS_INLINE bool is_better(T a, std::int64_t a_index, T b, std::int64_t b_index) {
  if (a_index < 0 || b_index < 0) return b_index < 0;
  const bool a_nan = ir::is_nan(a), b_nan = ir::is_nan(b);
  if (a_nan || b_nan) return a_nan && (!b_nan || a_index < b_index);
  if (a == b) return a_index < b_index;
  return kLargest ? a > b : a < b;
}

// `kept` walks the lines: 0: x, 1: y. With several parts of a line the extreme of each is left in `part_values` and
// `part_indices` ([lines, parts]), which a second launch reads as x and `indices`; else `indices` is null and an
// element's index is its position.
template <typename T, bool kLargest>
BURN_ALWAYS_INLINE void arg_reduce(const T* __restrict__ x, const std::int64_t* __restrict__ indices,
                                   std::int64_t* __restrict__ y, T* __restrict__ part_values,
                                   std::int64_t* __restrict__ part_indices, const Walk<2>& kept,
                                   const ArgShape& shape) {
  using Compute = compute_t<T>;
  __shared__ Compute values[kThreads];
  __shared__ std::int64_t places[kThreads];
  const int outputs = kThreads / shape.lanes, thread = threadIdx.x;
  const int lane = shape.rows ? thread % shape.lanes : thread / outputs;
  const int output_here = shape.rows ? thread / shape.lanes : thread % outputs;
  const auto output = std::int64_t{blockIdx.x} * outputs + output_here;
  const bool is_there = output < shape.outputs;
  const auto at = offsets(kept, is_there ? output : 0);

  Compute best{};
  std::int64_t best_index = -1;
  if (is_there) {
    const T* line = x + at.at[0];
    const auto begin = blockIdx.y * shape.per_part;
    const auto end = begin + shape.per_part < shape.size ? begin + shape.per_part : shape.size;
#pragma unroll 4
    for (auto i = begin + lane; i < end; i += shape.lanes) {
      const auto value = to_compute(line[i * shape.step]);
      const auto index = indices ? indices[at.at[0] + i * shape.step] : i;
      if (!is_better<kLargest>(value, index, best, best_index)) continue;
      best = value;
      best_index = index;
    }
  }
  const int slot = output_here * shape.lanes + lane;
  values[slot] = best;
  places[slot] = best_index;
  for (int half = shape.lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half && is_better<kLargest>(values[slot + half], places[slot + half], values[slot], places[slot])) {
      values[slot] = values[slot + half];
      places[slot] = places[slot + half];
    }
  }
  if (!is_there || lane != 0) return;
  if (shape.parts > 1) {
    const auto to = output * shape.parts + blockIdx.y;
    part_values[to] = to_storage<T>(values[slot]);
    part_indices[to] = places[slot];
  } else {
    y[at.at[1]] = places[slot];
  }
}

}  // namespace burn::cuda
