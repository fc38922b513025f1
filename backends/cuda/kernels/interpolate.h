// Interpolation: a thread per result, which visits the elements that it is made of, or, of gradients, the results that
// an element is part of. NVRTC only.
#pragma once

#include "backends/cuda/kernels/places.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"
#include "ir/semantics/interpolation.h"

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

// ir::Taps as many as the mode has, with weights of another type.
template <ir::InterpolateMode kMode, typename Weight>
struct TapsOf {
  int count = 0;
  std::int64_t index[most_taps(kMode)] = {};
  Weight weight[most_taps(kMode)] = {};
};

// Where an output lies is a fraction of whole numbers, (2 o + 1) input / (2 output) - 1/2 or o (input - 1) / (output -
// 1). Its whole part and its rest come from one division of integers, exactly, without arithmetic in double, of which
// most GPUs have little. Of the rest, weights in f32 are made as ir::LineInterpolation::taps() makes them in f64.
template <ir::InterpolateMode kMode, bool kAlignCorners>
BURN_ALWAYS_INLINE TapsOf<kMode, float> taps_by_fraction(const ir::LineInterpolation& line, std::int64_t o) {
  const auto input = static_cast<int>(line.input), output = static_cast<int>(line.output);
  const int last = input - 1, place = static_cast<int>(o);
  int above = kAlignCorners ? place * last : (2 * place + 1) * input - output;
  const int below = kAlignCorners ? (output > 1 ? output - 1 : 1) : 2 * output;
  if (kMode == ir::InterpolateMode::bilinear && above < 0) above = 0;
  const int first = above < 0 ? -1 : static_cast<int>(static_cast<unsigned>(above) / static_cast<unsigned>(below));
  const float rest = static_cast<float>(above - first * below) / static_cast<float>(below);
  const auto clamped = [&](int i) { return i < 0 ? 0 : i < last ? i : last; };
  TapsOf<kMode, float> taps;
  if constexpr (kMode == ir::InterpolateMode::bilinear) {
    taps.count = 2;
    taps.index[0] = clamped(first), taps.index[1] = clamped(first + 1);
    taps.weight[0] = 1 - rest, taps.weight[1] = rest;
  } else if constexpr (kMode == ir::InterpolateMode::bicubic) {
    constexpr float a = -0.75f;
    const auto near = [&](float x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [&](float x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    taps.count = 4;
    for (int k = 0; k < 4; ++k) taps.index[k] = clamped(first - 1 + k);
    taps.weight[0] = far(rest + 1), taps.weight[1] = near(rest), taps.weight[2] = near(1 - rest);
    taps.weight[3] = far(2 - rest);
  }
  return taps;
}

template <ir::InterpolateMode kMode, bool kAlignCorners, typename Weight>
BURN_ALWAYS_INLINE TapsOf<kMode, Weight> taps_of(const ir::LineInterpolation& line, std::int64_t o) {
  constexpr bool kHasRest = kMode == ir::InterpolateMode::bilinear || kMode == ir::InterpolateMode::bicubic;
  if constexpr (kHasRest && std::is_same_v<Weight, float>) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;  // of the products
    if (line.input != line.output && (2 * line.output + 1) * line.input < kMost)
      return taps_by_fraction<kMode, kAlignCorners>(line, o);
  }
  const auto all = line.taps(o);
  TapsOf<kMode, Weight> taps;
  taps.count = all.count;
#pragma unroll
  for (int k = 0; k < most_taps(kMode); ++k) {
    taps.index[k] = all.index[k];
    taps.weight[k] = static_cast<Weight>(all.weight[k]);
  }
  return taps;
}

template <ir::InterpolateMode kMode, bool kAlignCorners, typename T>
BURN_ALWAYS_INLINE void interpolate(const T* __restrict__ x, T* __restrict__ y, const ResizeShape& shape) {
  using Compute = compute_t<T>;
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto place = place_of(i, shape.channels, 1, shape.output[0], shape.output[1]);
  const T* plane = x + place.n * shape.strides[0] + place.c * shape.strides[1];
  const auto rows = taps_of<kMode, kAlignCorners, Compute>(line_of<kMode, kAlignCorners>(shape, 0), place.at[1]);
  const auto columns = taps_of<kMode, kAlignCorners, Compute>(line_of<kMode, kAlignCorners>(shape, 1), place.at[2]);
  Compute sum{};
#pragma unroll
  for (int a = 0; a < most_taps(kMode); ++a) {
    if (a >= rows.count) break;
    const T* row = plane + rows.index[a] * shape.strides[2];
    Compute along{};
#pragma unroll
    for (int b = 0; b < most_taps(kMode); ++b) {
      if (b < columns.count) along += columns.weight[b] * to_compute(row[columns.index[b] * shape.strides[3]]);
    }
    sum += rows.weight[a] * along;
  }
  y[i] = to_storage<T>(sum);
}

// How much of an output element `i` is, and whether any of it.
template <typename Weight>
struct Share {
  Weight weight;
  bool is_any;
};

template <ir::InterpolateMode kMode, bool kAlignCorners, typename Weight>
BURN_ALWAYS_INLINE Share<Weight> share_of(const ir::LineInterpolation& line, std::int64_t o, std::int64_t i) {
  const auto taps = taps_of<kMode, kAlignCorners, Weight>(line, o);
  Share<Weight> share{0, false};
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
    const auto row_share = share_of<kMode, kAlignCorners, Compute>(rows, a, place.at[1]);
    if (!row_share.is_any) continue;
    const T* row = plane + a * shape.strides[2];
    Compute along{};
    for (auto b = near_column.begin; b < near_column.end; ++b) {
      const auto share = share_of<kMode, kAlignCorners, Compute>(columns, b, place.at[2]);
      if (share.is_any) along += share.weight * to_compute(row[b * shape.strides[3]]);
    }
    sum += row_share.weight * along;
  }
  x[i] = to_storage<T>(sum);
}

}  // namespace burn::cuda
