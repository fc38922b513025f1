// Pools: a thread per result, which visits the window, or, of gradients, the windows that it is in. NVRTC only.
#pragma once

#include "backends/cuda/kernels/places.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

template <typename Int>
BURN_ALWAYS_INLINE Int divided(Int number, const Divider& by) {
  if constexpr (sizeof(Int) == 4)
    return static_cast<Int>(
        (__umulhi(static_cast<std::uint32_t>(number), by.factor) + static_cast<std::uint32_t>(number)) >> by.shift);
  else
    return number / by.by;
}

// `rest` % by, and `rest` becomes the quotient.
template <typename Int>
BURN_ALWAYS_INLINE Int take(Int& rest, const Divider& by) {
  const Int quotient = divided(rest, by), at = rest - quotient * static_cast<Int>(by.by);
  rest = quotient;
  return at;
}

// One spatial dim in numbers of 32 bits, where all sizes and products of two fit, or of 64: division is what a pool's
// time goes into.
template <typename Int>
struct Dim {
  const PoolShape& shape;
  const int d;
  Int input, output, kernel, stride, padding;
  BURN_ALWAYS_INLINE Dim(const PoolShape& pool, int dim)
      : shape(pool),
        d(dim),
        input(static_cast<Int>(pool.dim[dim].input)),
        output(static_cast<Int>(pool.dim[dim].output)),
        kernel(static_cast<Int>(pool.dim[dim].kernel)),
        stride(static_cast<Int>(pool.dim[dim].stride)),
        padding(static_cast<Int>(pool.dim[dim].padding)) {}
  BURN_ALWAYS_INLINE Int by_input(Int number) const { return divided(number, shape.input[d]); }
  BURN_ALWAYS_INLINE Int by_output(Int number) const { return divided(number, shape.output[d]); }
  BURN_ALWAYS_INLINE Int by_stride(Int number) const { return divided(number, shape.stride[d]); }
};

// Input positions [begin, end) of a window along one dim, and its factor of the divisor; or outputs that see an input.
template <typename Int>
struct Span {
  Int begin, end, divisor;
};

template <typename Int>
BURN_ALWAYS_INLINE Int smaller_of(Int a, Int b) {
  return a < b ? a : b;
}

template <bool kCountsPadding>
struct Sliding {
  template <typename Int>
  BURN_ALWAYS_INLINE static Span<Int> window(const Dim<Int>& dim, Int output) {
    const Int start = output * dim.stride - dim.padding, stop = start + dim.kernel;
    const Int begin = start < 0 ? 0 : start, end = smaller_of<Int>(stop, dim.input);
    return {begin, end, kCountsPadding ? smaller_of<Int>(stop, dim.input + dim.padding) - start : end - begin};
  }
  template <typename Int>
  BURN_ALWAYS_INLINE static Span<Int> outputs_of(const Dim<Int>& dim, Int input) {
    const Int from_start = input + dim.padding, before = from_start - dim.kernel;  // its window is all before the input
    return {before < 0 ? 0 : dim.by_stride(before) + 1, smaller_of<Int>(dim.by_stride(from_start) + 1, dim.output), 1};
  }
};

struct Adaptive {
  template <typename Int>
  BURN_ALWAYS_INLINE static Span<Int> window(const Dim<Int>& dim, Int output) {
    const Int begin = dim.by_output(output * dim.input);
    const Int end = dim.by_output((output + 1) * dim.input + dim.output - 1);
    return {begin, end, end - begin};
  }
  template <typename Int>
  BURN_ALWAYS_INLINE static Span<Int> outputs_of(const Dim<Int>& dim, Int input) {
    return {dim.by_input(input * dim.output), dim.by_input((input + 1) * dim.output + dim.input - 1), 1};
  }
};

BURN_ALWAYS_INLINE std::int64_t plane_offset(std::int64_t n, std::int64_t c, const PoolShape& shape) {
  return n * shape.strides[0] + c * shape.strides[1];
}

template <typename Ways, typename Int, typename T>
BURN_ALWAYS_INLINE void avg_pool(const T* __restrict__ x, T* __restrict__ y, const PoolShape& shape) {
  using Compute = compute_t<T>;
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const Dim<Int> d(shape, 0), h(shape, 1), w(shape, 2);
  auto rest = static_cast<Int>(i);
  const auto ws = Ways::window(w, take(rest, shape.output[2])), hs = Ways::window(h, take(rest, shape.output[1])),
             ds = Ways::window(d, take(rest, shape.output[0]));
  const auto c = take(rest, shape.channels);
  const T* plane = x + plane_offset(rest, c, shape);
  Compute sum{};
  for (auto a = ds.begin; a < ds.end; ++a) {
    for (auto b = hs.begin; b < hs.end; ++b) {
      const T* row = plane + a * shape.strides[2] + b * shape.strides[3];
      for (auto e = ws.begin; e < ws.end; ++e) sum += to_compute(row[e * shape.strides[4]]);
    }
  }
  y[i] = to_storage<T>(sum / static_cast<Compute>(std::int64_t{ds.divisor} * hs.divisor * ws.divisor));
}

template <typename Ways, typename Int, typename T>
BURN_ALWAYS_INLINE void avg_pool_grad(const T* __restrict__ grad, T* __restrict__ x, const PoolShape& shape) {
  using Compute = compute_t<T>;
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const Dim<Int> d(shape, 0), h(shape, 1), w(shape, 2);
  auto rest = static_cast<Int>(i);
  const auto ws = Ways::outputs_of(w, take(rest, shape.input[2])), hs = Ways::outputs_of(h, take(rest, shape.input[1])),
             ds = Ways::outputs_of(d, take(rest, shape.input[0]));
  const auto c = take(rest, shape.channels);
  const T* plane = grad + plane_offset(rest, c, shape);
  Compute sum{};
  for (auto a = ds.begin; a < ds.end; ++a) {
    const std::int64_t depth = Ways::window(d, a).divisor;
    for (auto b = hs.begin; b < hs.end; ++b) {
      const auto area = depth * Ways::window(h, b).divisor;
      const T* row = plane + a * shape.strides[2] + b * shape.strides[3];
      for (auto e = ws.begin; e < ws.end; ++e)
        sum += to_compute(row[e * shape.strides[4]]) / static_cast<Compute>(area * Ways::window(w, e).divisor);
    }
  }
  x[i] = to_storage<T>(sum);
}

// Positions [begin, end) of a dilated window, every `step`.
struct Strided {
  std::int64_t begin, end, step;
};

struct SlidingMax {
  BURN_ALWAYS_INLINE static Strided window(const WindowDim& dim, std::int64_t output) {
    const auto start = output * dim.stride - dim.padding;
    const auto begin = start < 0 ? start + (dim.dilation - 1 - start) / dim.dilation * dim.dilation : start;
    return {begin, smaller_of<std::int64_t>(start + (dim.kernel - 1) * dim.dilation + 1, dim.input), dim.dilation};
  }
};

struct AdaptiveMax {
  BURN_ALWAYS_INLINE static Strided window(const WindowDim& dim, std::int64_t output) {
    return {output * dim.input / dim.output, ((output + 1) * dim.input + dim.output - 1) / dim.output, 1};
  }
};

// The first of equals; the first NaN before any number. Every window has an element of the input.
template <typename Ways, typename T>
BURN_ALWAYS_INLINE void max_pool(const T* __restrict__ x, T* __restrict__ y, std::int64_t* __restrict__ positions,
                                 const PoolShape& shape) {
  using Compute = compute_t<T>;
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto& [d, h, w] = shape.dim;
  const auto place = place_of(i, shape.channels.by, d.output, h.output, w.output);
  const T* plane = x + plane_offset(place.n, place.c, shape);
  Compute best{};
  std::int64_t position = -1;
  const auto ds = Ways::window(d, place.at[0]), hs = Ways::window(h, place.at[1]), ws = Ways::window(w, place.at[2]);
  for (auto a = ds.begin; a < ds.end; a += ds.step) {
    for (auto b = hs.begin; b < hs.end; b += hs.step) {
      const T* row = plane + a * shape.strides[2] + b * shape.strides[3];
      for (auto c = ws.begin; c < ws.end; c += ws.step) {
        const auto value = to_compute(row[c * shape.strides[4]]);
        if (position >= 0 && (ir::is_nan(best) || !(value > best || ir::is_nan(value)))) continue;
        best = value;
        position = (a * h.input + b) * w.input + c;
      }
    }
  }
  y[i] = to_storage<T>(best);
  positions[i] = position;
}

}  // namespace burn::cuda
