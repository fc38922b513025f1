// Convolution and its adjoints by plain loops, for what the library does not take. NVRTC only.
#pragma once

#include "backends/cuda/kernels/places.h"
#include "backends/cuda/kernels/row.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

BURN_ALWAYS_INLINE bool is_within(std::int64_t at, std::int64_t size) { return at >= 0 && at < size; }

// Input, weight -> output; a thread per output.
template <typename T>
BURN_ALWAYS_INLINE void conv(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                             const ConvShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto& [d, h, w] = shape.dim;
  const auto to = place_of(i, shape.groups * shape.out_per_group, d.output, h.output, w.output);
  const auto first_in = to.c / shape.out_per_group * shape.in_per_group;
  compute_t<T> sum{};
  for (std::int64_t c = 0; c < shape.in_per_group; ++c) {
    const T* image = x + to.n * shape.first[0] + (first_in + c) * shape.first[1];
    const T* kernel = weight + to.c * shape.second[0] + c * shape.second[1];
    for (std::int64_t kd = 0; kd < d.kernel; ++kd) {
      const auto z = to.at[0] * d.stride - d.padding + kd * d.dilation;
      if (!is_within(z, d.input)) continue;
      for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
        const auto r = to.at[1] * h.stride - h.padding + kh * h.dilation;
        if (!is_within(r, h.input)) continue;
        const T* row = image + z * shape.first[2] + r * shape.first[3];
        const T* taps = kernel + kd * shape.second[2] + kh * shape.second[3];
        for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
          const auto s = to.at[2] * w.stride - w.padding + kw * w.dilation;
          if (is_within(s, w.input))
            sum += to_compute(row[s * shape.first[4]]) * to_compute(taps[kw * shape.second[4]]);
        }
      }
    }
  }
  y[i] = to_storage<T>(sum);
}

// The output that sees an input through a kernel element; negative where none does.
BURN_ALWAYS_INLINE std::int64_t output_over(const WindowDim& dim, std::int64_t input, std::int64_t k) {
  const auto start = input + dim.padding - k * dim.dilation;
  if (start < 0) return -1;
  const auto output = start / dim.stride;
  return output * dim.stride == start && output < dim.output ? output : -1;
}

// Output, weight -> input; a thread per input.
template <typename T>
BURN_ALWAYS_INLINE void conv_input_grad(const T* __restrict__ grad, const T* __restrict__ weight, T* __restrict__ x,
                                        const ConvShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.count) return;
  const auto& [d, h, w] = shape.dim;
  const auto to = place_of(i, shape.groups * shape.in_per_group, d.input, h.input, w.input);
  const auto group = to.c / shape.in_per_group, c = to.c - group * shape.in_per_group;
  compute_t<T> sum{};
  for (std::int64_t m = 0; m < shape.out_per_group; ++m) {
    const auto o = group * shape.out_per_group + m;
    const T* image = grad + to.n * shape.first[0] + o * shape.first[1];
    const T* kernel = weight + o * shape.second[0] + c * shape.second[1];
    for (std::int64_t kd = 0; kd < d.kernel; ++kd) {
      const auto z = output_over(d, to.at[0], kd);
      if (z < 0) continue;
      for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
        const auto r = output_over(h, to.at[1], kh);
        if (r < 0) continue;
        const T* row = image + z * shape.first[2] + r * shape.first[3];
        const T* taps = kernel + kd * shape.second[2] + kh * shape.second[3];
        for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
          const auto s = output_over(w, to.at[2], kw);
          if (s >= 0) sum += to_compute(row[s * shape.first[4]]) * to_compute(taps[kw * shape.second[4]]);
        }
      }
    }
  }
  x[i] = to_storage<T>(sum);
}

// Input, output -> weight; a warp per element of the weight, over all places where it was used.
template <typename T>
BURN_ALWAYS_INLINE void conv_weight_grad(const T* __restrict__ x, const T* __restrict__ grad, T* __restrict__ weight,
                                         const ConvShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (i >= shape.count) return;  // whole warps
  const auto& [d, h, w] = shape.dim;
  const auto to = place_of(i, shape.in_per_group, d.kernel, h.kernel, w.kernel);  // n is the output channel
  const auto c = to.n / shape.out_per_group * shape.in_per_group + to.c;
  const auto uses = shape.batch * d.output * h.output * w.output;
  compute_t<T> sum{};
  for (std::int64_t use = threadIdx.x % 32; use < uses; use += 32) {
    const auto out = place_of(use, 1, d.output, h.output, w.output);
    const auto z = out.at[0] * d.stride - d.padding + to.at[0] * d.dilation;
    const auto r = out.at[1] * h.stride - h.padding + to.at[1] * h.dilation;
    const auto s = out.at[2] * w.stride - w.padding + to.at[2] * w.dilation;
    if (!is_within(z, d.input) || !is_within(r, h.input) || !is_within(s, w.input)) continue;
    const auto from =
        out.n * shape.first[0] + c * shape.first[1] + z * shape.first[2] + r * shape.first[3] + s * shape.first[4];
    const auto other = out.n * shape.second[0] + to.n * shape.second[1] + out.at[0] * shape.second[2] +
                       out.at[1] * shape.second[3] + out.at[2] * shape.second[4];
    sum += to_compute(x[from]) * to_compute(grad[other]);
  }
  sum = reduce_warp<ir::Sum>(sum);
  if (threadIdx.x % 32 == 0) weight[i] = to_storage<T>(sum);
}

}  // namespace burn::cuda
