// Convolution of few channels: all of a tile's weights in shared memory, every input read for a tile of output channels
// at a time. NVRTC only.
#pragma once

#include "backends/cuda/kernels/conv.h"

namespace burn::cuda {

// A block makes kOut output channels (blockIdx.y: which) of kThreads * kPlaces places. The weights lie at
// second[0] for each output channel and second[1] for each input channel; from last to first where kFlips is set, as
// the gradient in the input wants them. Without groups and depth; `shape.dim[]` is of what this kernel reads and
// writes.
template <typename T, int kOut, int kPlaces, int kH, int kW, bool kFlips>
BURN_ALWAYS_INLINE void conv_direct(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                                    const ConvShape& shape) {
  using C = compute_t<T>;
  constexpr int kTaps = kH * kW;
  extern __shared__ __align__(16) unsigned char memory[];
  C* weights = reinterpret_cast<C*>(memory);  // [input channel][tap][kOut]
  const auto &h = shape.dim[1], &w = shape.dim[2];
  const int channels = static_cast<int>(shape.in_per_group);
  const std::int64_t first_out = std::int64_t{blockIdx.y} * kOut;
  const int outs = static_cast<int>(min(std::int64_t{kOut}, shape.out_per_group - first_out));
  for (int i = threadIdx.x; i < channels * kTaps * kOut; i += kThreads) {
    const int m = i % kOut, tap = i / kOut % kTaps, c = i / (kOut * kTaps);
    const int from = kFlips ? kTaps - 1 - tap : tap;
    weights[i] = m < outs ? to_compute(weight[(first_out + m) * shape.second[0] + c * shape.second[1] +
                                              from / kW * shape.second[3] + from % kW * shape.second[4]])
                          : C{};
  }
  __syncthreads();

  // Offsets of 32 bits: one instruction each where 64 bits take several.
  const auto places = shape.batch * h.output * w.output;
  int corner[kPlaces], to[kPlaces];                          // of the first tap in x; of the first channel in y
  unsigned row_is_there[kPlaces], column_is_there[kPlaces];  // a bit for each row and column of taps
#pragma unroll
  for (int p = 0; p < kPlaces; ++p) {
    const auto i = (std::int64_t{blockIdx.x} * kPlaces + p) * kThreads + threadIdx.x;
    const auto at = place_of(i < places ? i : 0, 1, 1, h.output, w.output);
    const auto row = at.at[1] * h.stride - h.padding, column = at.at[2] * w.stride - w.padding;
    corner[p] = static_cast<int>(at.n * shape.first[0] + row * shape.first[3] + column * shape.first[4]);
    to[p] =
        i < places
            ? static_cast<int>(((at.n * shape.out_per_group + first_out) * h.output + at.at[1]) * w.output + at.at[2])
            : -1;
    row_is_there[p] = column_is_there[p] = 0;
#pragma unroll
    for (int kh = 0; kh < kH; ++kh) row_is_there[p] |= is_within(row + kh * h.dilation, h.input) << kh;
#pragma unroll
    for (int kw = 0; kw < kW; ++kw) column_is_there[p] |= is_within(column + kw * w.dilation, w.input) << kw;
  }
  C sums[kPlaces][kOut] = {};
  const int of_channel = static_cast<int>(shape.first[1]);
  const int down = static_cast<int>(h.dilation * shape.first[3]), right = static_cast<int>(w.dilation * shape.first[4]);
#pragma unroll 1
  for (int c = 0; c < channels; ++c) {
#pragma unroll
    for (int kh = 0; kh < kH; ++kh) {
#pragma unroll
      for (int kw = 0; kw < kW; ++kw) {
        const int offset = c * of_channel + kh * down + kw * right;
        C value[kPlaces];
#pragma unroll
        for (int p = 0; p < kPlaces; ++p) {
          const bool is_there = (row_is_there[p] >> kh & column_is_there[p] >> kw & 1) != 0;
          value[p] = is_there ? to_compute(x[corner[p] + offset]) : C{};
        }
        const C* taps = weights + (c * kTaps + kh * kW + kw) * kOut;
#pragma unroll
        for (int m = 0; m < kOut; ++m) {
          const C tap = taps[m];
#pragma unroll
          for (int p = 0; p < kPlaces; ++p) sums[p][m] += value[p] * tap;
        }
      }
    }
  }
  const int plane = static_cast<int>(h.output * w.output);
#pragma unroll
  for (int p = 0; p < kPlaces; ++p) {
    if (to[p] < 0) continue;
#pragma unroll
    for (int m = 0; m < kOut; ++m) {
      if (m < outs) y[to[p] + m * plane] = to_storage<T>(sums[p][m]);
    }
  }
}

}  // namespace burn::cuda
