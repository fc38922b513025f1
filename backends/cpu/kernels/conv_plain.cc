// Convolution by plain loops: for f64, and for what oneDNN does not support.
//
// The innermost loop runs along a row of the output for one element of the kernel, so that it vectorises for stride 1.
#include <algorithm>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/fill.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

// One spatial dim.
struct SpatialDim {
  std::int64_t input = 1, kernel = 1, output = 1, stride = 1, padding = 0, dilation = 1;

  // The outputs for which kernel element k is inside the input: [begin, end).
  std::int64_t begin(std::int64_t k) const {
    const auto before = padding - k * dilation;  // output o reads input o * stride - before
    return before > 0 ? std::min((before + stride - 1) / stride, output) : 0;
  }
  std::int64_t end(std::int64_t k) const {
    const auto room = input - 1 + padding - k * dilation;
    return room < 0 ? 0 : std::min(room / stride + 1, output);
  }
  std::int64_t first_input(std::int64_t o, std::int64_t k) const { return o * stride - padding + k * dilation; }
};

struct SpatialDims {
  std::array<SpatialDim, 3> side;

  explicit SpatialDims(const ConvProblem& p) {
    auto to = side.end() - p.spatial();
    for (int i = 0; i < p.spatial(); ++i) {
      *to++ = {p.input[i + 2], p.weight[i + 2], p.output[i + 2], p.stride[i], p.pad_begin[i], p.dilation[i]};
    }
  }
  std::int64_t input_plane() const { return side[0].input * side[1].input * side[2].input; }
  std::int64_t output_plane() const { return side[0].output * side[1].output * side[2].output; }
  std::int64_t kernel_plane() const { return side[0].kernel * side[1].kernel * side[2].kernel; }
};

// Calls body(n, input row, step, kernel element, output row) for every row of outputs and every kernel element that is
// inside the input: the element pairs output row[i] with input row[i * step]. Offsets are within the planes.
template <typename Body>
void for_each_row(const SpatialDims& sides, const Body& body) {
  const auto& [d, h, w] = sides.side;
  InterruptMeter meter;
  for (std::int64_t kd = 0; kd < d.kernel; ++kd) {
    for (std::int64_t kh = 0; kh < h.kernel; ++kh) {
      for (std::int64_t kw = 0; kw < w.kernel; ++kw) {
        const auto element = (kd * h.kernel + kh) * w.kernel + kw;
        const auto begin = w.begin(kw), n = w.end(kw) - begin;
        if (n <= 0) continue;
        for (auto od = d.begin(kd); od < d.end(kd); ++od) {
          for (auto oh = h.begin(kh); oh < h.end(kh); ++oh) {
            meter.add(n);
            const auto input = (d.first_input(od, kd) * h.input + h.first_input(oh, kh)) * w.input;
            const auto output = (od * h.output + oh) * w.output;
            body(n, input + w.first_input(begin, kw), w.stride, element, output + begin);
          }
        }
      }
    }
  }
}

// Pairs of channels: every input channel of a group with every output channel.
struct Channels {
  std::int64_t in_per_group, out_per_group;

  explicit Channels(const ConvProblem& p) : in_per_group(p.weight[1]), out_per_group(p.weight[0] / p.groups) {}
  std::int64_t first_in(std::int64_t out) const { return out / out_per_group * in_per_group; }
  std::int64_t first_out(std::int64_t in) const { return in / in_per_group * out_per_group; }
};

template <typename T>
void forward(const ConvProblem& p, const SpatialDims& sides, const T* x, const T* weight, T* y) {
  const Channels channels(p);
  const auto in = p.input[1], out = p.output[1];
  parallel_for(p.output[0] * out, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto plane = begin; plane < end; ++plane) {
      const auto n = plane / out, o = plane % out;
      T* to = y + plane * sides.output_plane();
      fill_zeros(to, sides.output_plane());
      for (std::int64_t c = 0; c < channels.in_per_group; ++c) {
        const T* from = x + (n * in + channels.first_in(o) + c) * sides.input_plane();
        const T* kernel = weight + (o * channels.in_per_group + c) * sides.kernel_plane();
        for_each_row(sides, [&](std::int64_t size, std::int64_t i, std::int64_t step, std::int64_t k, std::int64_t j) {
          for (std::int64_t e = 0; e < size; ++e) to[j + e] += kernel[k] * from[i + e * step];
        });
      }
    }
  });
}

template <typename T>
void input_grad(const ConvProblem& p, const SpatialDims& sides, const T* grad, const T* weight, T* x) {
  const Channels channels(p);
  const auto in = p.input[1], out = p.output[1];
  parallel_for(p.input[0] * in, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto plane = begin; plane < end; ++plane) {
      const auto n = plane / in, c = plane % in;
      T* to = x + plane * sides.input_plane();
      fill_zeros(to, sides.input_plane());
      for (std::int64_t m = 0; m < channels.out_per_group; ++m) {
        const auto o = channels.first_out(c) + m;
        const T* from = grad + (n * out + o) * sides.output_plane();
        const T* kernel = weight + (o * channels.in_per_group + c % channels.in_per_group) * sides.kernel_plane();
        for_each_row(sides, [&](std::int64_t size, std::int64_t i, std::int64_t step, std::int64_t k, std::int64_t j) {
          for (std::int64_t e = 0; e < size; ++e) to[i + e * step] += kernel[k] * from[j + e];
        });
      }
    }
  });
}

template <typename T>
void weight_grad(const ConvProblem& p, const SpatialDims& sides, const T* x, const T* grad, T* weight) {
  const Channels channels(p);
  const auto in = p.input[1], out = p.output[1];
  parallel_for(p.weight[0] * p.weight[1], 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto plane = begin; plane < end; ++plane) {
      const auto o = plane / channels.in_per_group, c = channels.first_in(o) + plane % channels.in_per_group;
      T* to = weight + plane * sides.kernel_plane();
      fill_zeros(to, sides.kernel_plane());
      for (std::int64_t n = 0; n < p.input[0]; ++n) {
        const T* from = x + (n * in + c) * sides.input_plane();
        const T* other = grad + (n * out + o) * sides.output_plane();
        for_each_row(sides, [&](std::int64_t size, std::int64_t i, std::int64_t step, std::int64_t k, std::int64_t j) {
          T sum = 0;
          for (std::int64_t e = 0; e < size; ++e) sum += from[i + e * step] * other[j + e];
          to[k] += sum;
        });
      }
    }
  });
}

}  // namespace

template <typename T>
void convolve_plainly(const ConvProblem& problem, const T* first, const T* second, T* result) {
  const SpatialDims sides(problem);
  switch (problem.direction) {
    case ConvDirection::forward:
      return forward(problem, sides, first, second, result);
    case ConvDirection::input_grad:
      return input_grad(problem, sides, first, second, result);
    case ConvDirection::weight_grad:
      return weight_grad(problem, sides, first, second, result);
  }
}

template void convolve_plainly(const ConvProblem&, const float*, const float*, float*);
template void convolve_plainly(const ConvProblem&, const double*, const double*, double*);

}  // namespace burn::backends::cpu
