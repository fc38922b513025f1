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

  const auto places = shape.batch * h.output * w.output;
  const T* image[kPlaces];
  T* to[kPlaces];
  int row[kPlaces], column[kPlaces];
#pragma unroll
  for (int p = 0; p < kPlaces; ++p) {
    const auto i = (std::int64_t{blockIdx.x} * kPlaces + p) * kThreads + threadIdx.x;
    const auto at = place_of(i < places ? i : 0, 1, 1, h.output, w.output);
    image[p] = x + at.n * shape.first[0];
    row[p] = static_cast<int>(at.at[1] * h.stride - h.padding);
    column[p] = static_cast<int>(at.at[2] * w.stride - w.padding);
    to[p] = i < places ? y + ((at.n * shape.out_per_group + first_out) * h.output + at.at[1]) * w.output + at.at[2]
                       : nullptr;
  }
  C sums[kPlaces][kOut] = {};
  const int high = static_cast<int>(h.input), wide = static_cast<int>(w.input);
  for (int c = 0; c < channels; ++c) {
#pragma unroll
    for (int kh = 0; kh < kH; ++kh) {
#pragma unroll
      for (int kw = 0; kw < kW; ++kw) {
        C value[kPlaces];
#pragma unroll
        for (int p = 0; p < kPlaces; ++p) {
          const int r = row[p] + kh * static_cast<int>(h.dilation), s = column[p] + kw * static_cast<int>(w.dilation);
          const bool is_there = static_cast<unsigned>(r) < static_cast<unsigned>(high) &&
                                static_cast<unsigned>(s) < static_cast<unsigned>(wide);
          value[p] =
              is_there ? to_compute(image[p][c * shape.first[1] + r * shape.first[3] + s * shape.first[4]]) : C{};
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
  const auto plane = h.output * w.output;
#pragma unroll
  for (int p = 0; p < kPlaces; ++p) {
    if (!to[p]) continue;
#pragma unroll
    for (int m = 0; m < kOut; ++m) {
      if (m < outs) to[p][m * plane] = to_storage<T>(sums[p][m]);
    }
  }
}

}  // namespace burn::cuda
