// The gradient of a convolution in its weights, for few channels: the sum over all places of all images is long, the
// result small. NVRTC only.
#pragma once

#include "backends/cuda/kernels/conv.h"

namespace burn::cuda {

// Of 32 values that every lane has, lane i gets the warp's sum of value i. A halving at each step: 31 shuffles, not
// 160.
template <typename T>
BURN_ALWAYS_INLINE T sum_scattered(const T* values) {
  T part[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) part[i] = values[i];
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const bool is_upper = (threadIdx.x & mask) != 0;
#pragma unroll
    for (int i = 0; i < mask; ++i) {
      const T mine = is_upper ? part[i + mask] : part[i], other = is_upper ? part[i] : part[i + mask];
      part[i] = mine + __shfl_xor_sync(0xffffffffu, other, mask);
    }
  }
  return part[0];
}

// A block takes one input channel, kOut output channels, all kH x kW elements of their kernels and one part of the
// places (blockIdx.x), and writes its part of the sums to partial[part]; add_parts() adds them up. Without depth.
template <typename T, int kOut, int kH, int kW>
BURN_ALWAYS_INLINE void conv_weight_grad_tiles(const T* __restrict__ x, const T* __restrict__ grad,
                                               compute_t<T>* __restrict__ partial, const ConvShape& shape,
                                               std::int64_t per_part) {
  using C = compute_t<T>;
  constexpr int kTaps = kH * kW, kSums = (kOut * kTaps + 31) / 32 * 32;
  const auto &h = shape.dim[1], &w = shape.dim[2];
  const int tiles = static_cast<int>((shape.out_per_group + kOut - 1) / kOut);
  const std::int64_t c = blockIdx.y / tiles, tile = blockIdx.y % tiles, group = c / shape.in_per_group;
  const std::int64_t first_out = tile * kOut;  // in the group
  const auto o = group * shape.out_per_group + first_out;
  const int outs = static_cast<int>(min(std::int64_t{kOut}, shape.out_per_group - first_out));
  const auto places = shape.batch * h.output * w.output;
  const auto begin = std::int64_t{blockIdx.x} * per_part, end = min(begin + per_part, places);

  C sums[kSums] = {};
  for (auto i = begin + threadIdx.x; i < end; i += kThreads) {
    const auto at = place_of(i, 1, 1, h.output, w.output);
    const T* g =
        grad + at.n * shape.second[0] + o * shape.second[1] + at.at[1] * shape.second[3] + at.at[2] * shape.second[4];
    const T* image = x + at.n * shape.first[0] + c * shape.first[1];
    C grads[kOut];
#pragma unroll
    for (int m = 0; m < kOut; ++m) grads[m] = m < outs ? to_compute(g[m * shape.second[1]]) : C{};
#pragma unroll
    for (int kh = 0; kh < kH; ++kh) {
      const auto r = at.at[1] * h.stride - h.padding + kh * h.dilation;
#pragma unroll
      for (int kw = 0; kw < kW; ++kw) {
        const auto s = at.at[2] * w.stride - w.padding + kw * w.dilation;
        const bool is_there = is_within(r, h.input) && is_within(s, w.input);
        const C value = is_there ? to_compute(image[r * shape.first[3] + s * shape.first[4]]) : C{};
#pragma unroll
        for (int m = 0; m < kOut; ++m) sums[m * kTaps + kh * kW + kw] += grads[m] * value;
      }
    }
  }

  __shared__ C of_warp[kThreads / 32][kSums];
#pragma unroll
  for (int i = 0; i < kSums; i += 32) of_warp[threadIdx.x / 32][i + threadIdx.x % 32] = sum_scattered(sums + i);
  __syncthreads();
  C* to = partial + std::int64_t{blockIdx.x} * shape.count;
  for (int i = threadIdx.x; i < outs * kTaps; i += kThreads) {
    C sum{};
    for (const auto& warp : of_warp) sum += warp[i];
    const auto m = i / kTaps, tap = i % kTaps;
    to[((o + m) * shape.in_per_group + c % shape.in_per_group) * kTaps + tap] = sum;
  }
}

// Eight threads share a result.
template <typename T>
BURN_ALWAYS_INLINE void add_parts(const compute_t<T>* __restrict__ partial, T* __restrict__ result, std::int64_t count,
                                  std::int64_t parts) {
  const auto i = std::int64_t{blockIdx.x} * (kThreads / 8) + threadIdx.x / 8;
  compute_t<T> sum{};
  if (i < count) {
#pragma unroll 4
    for (std::int64_t part = threadIdx.x % 8; part < parts; part += 8) sum += partial[part * count + i];
  }
#pragma unroll
  for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  if (i < count && threadIdx.x % 8 == 0) result[i] = to_storage<T>(sum);
}

}  // namespace burn::cuda
