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

// A block takes one input channel, kOut output channels and all kH x kW elements of their kernels. A thread goes down
// `rows` rows of an image in one column: blockIdx.x says which images, columns and rows, and the sums are written to
// partial[blockIdx.x]; add_parts() adds them up. Where the rows that neighbouring outputs see overlap (kSlides: no
// stride, no dilation along them), they are kept. Without depth; offsets of 32 bits.
template <typename T, int kOut, int kH, int kW, bool kSlides>
BURN_ALWAYS_INLINE void conv_weight_grad_tiles(const T* __restrict__ x, const T* __restrict__ grad,
                                               compute_t<T>* __restrict__ partial, const ConvShape& shape, int rows) {
  using C = compute_t<T>;
  constexpr int kTaps = kH * kW, kSums = (kOut * kTaps + 31) / 32 * 32;
  const auto &h = shape.dim[1], &w = shape.dim[2];
  const int tiles = static_cast<int>((shape.out_per_group + kOut - 1) / kOut);
  const int c = blockIdx.y / tiles, tile = blockIdx.y % tiles, group = c / static_cast<int>(shape.in_per_group);
  const int o = group * static_cast<int>(shape.out_per_group) + tile * kOut;
  const int outs = min(kOut, static_cast<int>(shape.out_per_group) - tile * kOut);

  const int unit = blockIdx.x * kThreads + threadIdx.x;  // of rows, in a column, in an image
  const int columns = static_cast<int>(w.output), strips = (static_cast<int>(h.output) + rows - 1) / rows;
  const int column = unit % columns, strip = unit / columns % strips, n = unit / columns / strips;
  const bool is_there = n < shape.batch;
  const int begin = strip * rows, end = is_there ? min(begin + rows, static_cast<int>(h.output)) : begin;
  const int left = column * static_cast<int>(w.stride) - static_cast<int>(w.padding);
  const int high = static_cast<int>(h.input);
  const int down = static_cast<int>(shape.first[3]), right = static_cast<int>(w.dilation * shape.first[4]);
  const int image = static_cast<int>(n * shape.first[0] + c * shape.first[1]) + left * static_cast<int>(shape.first[4]);
  const int of_out = static_cast<int>(shape.second[1]);
  int from =
      static_cast<int>(n * shape.second[0] + o * shape.second[1] + begin * shape.second[3] + column * shape.second[4]);
  bool column_is_there[kW];
#pragma unroll
  for (int kw = 0; kw < kW; ++kw) column_is_there[kw] = is_within(left + kw * w.dilation, w.input);

  C sums[kSums] = {}, window[kH][kW];
  const auto read = [&](int kh, int row) {
    const bool row_is_there = static_cast<unsigned>(row) < static_cast<unsigned>(high);
#pragma unroll
    for (int kw = 0; kw < kW; ++kw)
      window[kh][kw] = row_is_there && column_is_there[kw] ? to_compute(x[image + row * down + kw * right]) : C{};
  };
  int top = begin * static_cast<int>(h.stride) - static_cast<int>(h.padding);
  if (kSlides && begin < end) {
#pragma unroll
    for (int kh = 0; kh + 1 < kH; ++kh) read(kh + 1, top + kh);
  }
#pragma unroll 2
  for (int row = begin; row < end; ++row) {
    C grads[kOut];
#pragma unroll
    for (int m = 0; m < kOut; ++m) grads[m] = m < outs ? to_compute(grad[from + m * of_out]) : C{};
    if constexpr (kSlides) {
#pragma unroll
      for (int kh = 0; kh + 1 < kH; ++kh) {
#pragma unroll
        for (int kw = 0; kw < kW; ++kw) window[kh][kw] = window[kh + 1][kw];
      }
      read(kH - 1, top + kH - 1);
    } else {
#pragma unroll
      for (int kh = 0; kh < kH; ++kh) read(kh, top + kh * static_cast<int>(h.dilation));
    }
#pragma unroll
    for (int m = 0; m < kOut; ++m) {
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) sums[m * kTaps + tap] += grads[m] * window[tap / kW][tap % kW];
    }
    from += static_cast<int>(shape.second[3]);
    top += static_cast<int>(h.stride);
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
    to[(std::int64_t{o + m} * shape.in_per_group + c % shape.in_per_group) * kTaps + tap] = sum;
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
