#include "nn/conv_transpose.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "client/fail.h"
#include "nn/checks.h"

namespace burn::nn {
namespace {

template <std::size_t N>
using Sizes = std::array<std::int64_t, N>;

// The configuration of a transposed convolution of any rank.
template <std::size_t N>
struct Spec {
  const char* config;
  Sizes<2> channels;
  Sizes<N> kernel, stride, dilation, padding, padding_out;
  std::int64_t groups;
  bool bias;
  Initializer initializer;

  void check() const {
    detail::check_at_least(config, "channels", channels, 1);
    detail::check_at_least(config, "kernel_size", kernel, 1);
    detail::check_at_least(config, "stride", stride, 1);
    detail::check_at_least(config, "dilation", dilation, 1);
    detail::check_at_least(config, "padding", padding, 0);
    detail::check_at_least(config, "padding_out", padding_out, 0);
    detail::check_at_least(config, "groups", groups, 1);
    if (channels[0] % groups != 0 || channels[1] % groups != 0) {
      detail::reject(config, std::to_string(groups) + " groups do not divide " + std::to_string(channels[0]) +
                                 " input and " + std::to_string(channels[1]) + " output channels");
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (padding_out[i] < std::max(stride[i], dilation[i])) continue;
      detail::reject(config, "padding_out " + std::to_string(padding_out[i]) + " is not below the stride " +
                                 std::to_string(stride[i]) + " or the dilation " + std::to_string(dilation[i]));
    }
  }
};

template <typename Layer, std::size_t N>
Layer make(const Spec<N>& spec, const Device& device) {
  spec.check();
  constexpr int kRank = static_cast<int>(N) + 2;
  const auto taps = std::accumulate(spec.kernel.begin(), spec.kernel.end(), std::int64_t{1}, std::multiplies<>{});
  const auto fan_in = spec.channels[1] / spec.groups * taps, fan_out = spec.channels[0] / spec.groups * taps;
  std::array<std::int64_t, N + 2> shape{spec.channels[0], spec.channels[1] / spec.groups};
  std::copy(spec.kernel.begin(), spec.kernel.end(), shape.begin() + 2);
  Layer layer{.weight = spec.initializer.template init<kRank>(shape, device, fan_in, fan_out),
              .stride = spec.stride,
              .dilation = spec.dilation,
              .padding = spec.padding,
              .padding_out = spec.padding_out,
              .groups = spec.groups};
  if (spec.bias) layer.bias = spec.initializer.template init<1>({spec.channels[1]}, device, fan_in, fan_out);
  return layer;
}

constexpr std::array kCalled{"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};

template <int D, typename Layer>
Tensor<D> convolve(const Layer& layer, const Tensor<D>& x, const Loc& where) {
  const auto site = at(where, kCalled[D - 3]);
  client::fail_if_empty(x.value(), "conv_transpose", site);
  const client::Value& weight = detail::held(layer.weight.slot(), "ConvTranspose: weight", site);
  if (x.dim(1) != weight.dim(0)) {
    client::fail("conv_transpose: the layer takes " + std::to_string(weight.dim(0)) + " channels, the input is " +
                     ir::to_string(x.value().type()),
                 site);
  }
  const ir::Dims padding{std::span{layer.padding}};
  const ir::Conv options{.stride = ir::Dims{std::span{layer.stride}},
                         .pad_begin = padding,
                         .pad_end = padding,
                         .dilation = ir::Dims{std::span{layer.dilation}},
                         .groups = layer.groups};
  return Tensor<D>{client::conv_transpose(x.value(), weight, layer.bias ? &layer.bias->slot().value : nullptr, options,
                                          ir::Dims{std::span{layer.padding_out}}, site)};
}

}  // namespace

ConvTranspose1d ConvTranspose1dConfig::init(const Device& device) const {
  return make<ConvTranspose1d>(Spec<1>{"ConvTranspose1dConfig",
                                       channels,
                                       {kernel_size},
                                       {stride},
                                       {dilation},
                                       {padding},
                                       {padding_out},
                                       groups,
                                       bias,
                                       initializer},
                               device);
}

ConvTranspose2d ConvTranspose2dConfig::init(const Device& device) const {
  return make<ConvTranspose2d>(Spec<2>{"ConvTranspose2dConfig", channels, kernel_size, stride, dilation, padding,
                                       padding_out, groups, bias, initializer},
                               device);
}

ConvTranspose3d ConvTranspose3dConfig::init(const Device& device) const {
  return make<ConvTranspose3d>(Spec<3>{"ConvTranspose3dConfig", channels, kernel_size, stride, dilation, padding,
                                       padding_out, groups, bias, initializer},
                               device);
}

Tensor<3> ConvTranspose1d::forward(const Tensor<3>& x, Loc where) const { return convolve(*this, x, where); }
Tensor<4> ConvTranspose2d::forward(const Tensor<4>& x, Loc where) const { return convolve(*this, x, where); }
Tensor<5> ConvTranspose3d::forward(const Tensor<5>& x, Loc where) const { return convolve(*this, x, where); }

}  // namespace burn::nn
