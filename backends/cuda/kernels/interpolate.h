// Interpolation: a thread per result, which visits the elements that it is made of, or, of gradients, the results that
// an element is part of. NVRTC only.
#pragma once

#include "backends/cuda/kernels/places.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"
#include "ir/interpolation.h"

namespace burn::cuda {

// Loops over taps are unrolled to this, so that the taps are registers and not local memory.
constexpr int most_taps(ir::InterpolateMode mode) {
  switch (mode) {
    case ir::InterpolateMode::bilinear:
      return 2;
    case ir::InterpolateMode::bicubic:
      return 4;
    case ir::InterpolateMode::lanczos3:
      return 6;
    default:
      return 1;
  }
}

template <ir::InterpolateMode kMode, bool kAlignCorners>
BURN_ALWAYS_INLINE ir::LineInterpolation line_of(const ResizeShape& shape, int dim) {
  ir::LineInterpolation line;
  line.mode = kMode;
  line.align_corners = kAlignCorners;
  line.input = shape.input[dim];
  line.output = shape.output[dim];
  return line;
}

template <ir::InterpolateMode kMode, bool kAlignCorners, typename T>
BURN_ALWAYS_INLINE void interpolate(const T* __restrict__ x, T* __restrict__ y, const ResizeShape& shape) {
  using Compute = compute_t<T>;
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto place = place_of(i, shape.channels, 1, shape.output[0], shape.output[1]);
  const T* plane = x + place.n * shape.strides[0] + place.c * shape.strides[1];
  const auto rows = line_of<kMode, kAlignCorners>(shape, 0).taps(place.at[1]);
  const auto columns = line_of<kMode, kAlignCorners>(shape, 1).taps(place.at[2]);
  Compute sum{};
#pragma unroll
  for (int a = 0; a < most_taps(kMode); ++a) {
    if (a >= rows.count) break;
    const T* row = plane + rows.index[a] * shape.strides[2];
    Compute along{};
#pragma unroll
    for (int b = 0; b < most_taps(kMode); ++b) {
      if (b < columns.count)
        along += static_cast<Compute>(columns.weight[b]) * to_compute(row[columns.index[b] * shape.strides[3]]);
    }
    sum += static_cast<Compute>(rows.weight[a]) * along;
  }
  y[i] = to_storage<T>(sum);
}

// How much of an output element `i` is, and whether any of it.
struct Share {
  double weight;
  bool is_any;
};

template <ir::InterpolateMode kMode>
BURN_ALWAYS_INLINE Share share_of(const ir::LineInterpolation& line, std::int64_t o, std::int64_t i) {
  const auto taps = line.taps(o);
  Share share{0, false};
#pragma unroll
  for (int k = 0; k < most_taps(kMode); ++k) {
    if (k >= taps.count || taps.index[k] != i) continue;
    share.weight += taps.weight[k];
    share.is_any = true;
  }
  return share;
}

template <ir::InterpolateMode kMode, bool kAlignCorners, typename T>
BURN_ALWAYS_INLINE void interpolate_grad(const T* __restrict__ grad, T* __restrict__ x, const ResizeShape& shape) {
  using Compute = compute_t<T>;
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto place = place_of(i, shape.channels, 1, shape.input[0], shape.input[1]);
  const T* plane = grad + place.n * shape.strides[0] + place.c * shape.strides[1];
  const auto rows = line_of<kMode, kAlignCorners>(shape, 0), columns = line_of<kMode, kAlignCorners>(shape, 1);
  const auto near_row = rows.outputs_near(place.at[1]), near_column = columns.outputs_near(place.at[2]);
  Compute sum{};
  for (auto a = near_row.begin; a < near_row.end; ++a) {
    const auto row_share = share_of<kMode>(rows, a, place.at[1]);
    if (!row_share.is_any) continue;
    const T* row = plane + a * shape.strides[2];
    Compute along{};
    for (auto b = near_column.begin; b < near_column.end; ++b) {
      const auto share = share_of<kMode>(columns, b, place.at[2]);
      if (share.is_any) along += static_cast<Compute>(share.weight) * to_compute(row[b * shape.strides[3]]);
    }
    sum += static_cast<Compute>(row_share.weight) * along;
  }
  x[i] = to_storage<T>(sum);
}

}  // namespace burn::cuda
