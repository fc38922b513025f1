#include "nn/conv.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "client/fail.h"
#include "nn/checks.h"

namespace burn::nn {
namespace {

template <std::size_t N>
using Sizes = std::array<std::int64_t, N>;

// The configuration of a convolution of any rank.
template <std::size_t N>
struct Spec {
  const char* config;
  Sizes<2> channels;
  Sizes<N> kernel, stride, dilation;
  std::int64_t groups;
  PaddingConfig<N> padding;
  bool bias;
  Initializer initializer;

  void check() const {
    detail::check_at_least(config, "channels", channels, 1);
    detail::check_at_least(config, "kernel_size", kernel, 1);
    detail::check_at_least(config, "stride", stride, 1);
    detail::check_at_least(config, "dilation", dilation, 1);
    detail::check_at_least(config, "groups", groups, 1);
    detail::check_padding(config, padding.kind, padding.begin, padding.end);
    if (channels[0] % groups != 0 || channels[1] % groups != 0) {
      detail::reject(config, std::to_string(groups) + " groups do not divide " + std::to_string(channels[0]) +
                                 " input and " + std::to_string(channels[1]) + " output channels");
    }
  }
};

template <typename Layer, std::size_t N>
Layer make(const Spec<N>& spec, const Device& device) {
  spec.check();
  constexpr int kRank = static_cast<int>(N) + 2;
  const auto taps = std::accumulate(spec.kernel.begin(), spec.kernel.end(), std::int64_t{1}, std::multiplies<>{});
  const auto fan_in = spec.channels[0] / spec.groups * taps, fan_out = spec.channels[1] / spec.groups * taps;
  std::array<std::int64_t, N + 2> shape{spec.channels[1], spec.channels[0] / spec.groups};
  std::copy(spec.kernel.begin(), spec.kernel.end(), shape.begin() + 2);
  Layer layer{.weight = spec.initializer.template init<kRank>(shape, device, fan_in, fan_out),
              .stride = spec.stride,
              .dilation = spec.dilation,
              .groups = spec.groups,
              .padding = spec.padding};
  if (spec.bias) layer.bias = spec.initializer.template init<1>({spec.channels[1]}, device, fan_in, fan_out);
  return layer;
}

constexpr std::array kCalled{"conv1d", "conv2d", "conv3d"};

template <int D, typename Layer>
Tensor<D> convolve(const Layer& layer, const Tensor<D>& x, const Loc& where) {
  const auto site = at(where, kCalled[D - 3]);
  client::fail_if_empty(x.value(), "conv", site);
  const client::Value& weight = detail::held(layer.weight.slot(), "Conv: weight", site);
  if (const auto channels = weight.dim(1) * layer.groups; x.dim(1) != channels) {
    client::fail("conv: the layer takes " + std::to_string(channels) + " channels, the input is " +
                     ir::to_string(x.value().type()),
                 site);
  }
  const auto padding = detail::resolve_padding(layer.padding.kind, layer.padding.begin, layer.padding.end, x.shape(),
                                               {weight.shape().span().subspan(2), layer.stride, layer.dilation});
  const ir::Conv options{.stride = ir::Dims{std::span{layer.stride}},
                         .pad_begin = padding.begin,
                         .pad_end = padding.end,
                         .dilation = ir::Dims{std::span{layer.dilation}},
                         .groups = layer.groups};
  return Tensor<D>{client::conv(x.value(), weight, layer.bias ? &layer.bias->slot().value : nullptr, options, site)};
}

}  // namespace

Conv1d Conv1dConfig::init(const Device& device) const {
  return make<Conv1d>(Spec<1>{"Conv1dConfig",
                              {channels_in, channels_out},
                              {kernel_size},
                              {stride},
                              {dilation},
                              groups,
                              padding,
                              bias,
                              initializer},
                      device);
}

Conv2d Conv2dConfig::init(const Device& device) const {
  return make<Conv2d>(
      Spec<2>{"Conv2dConfig", channels, kernel_size, stride, dilation, groups, padding, bias, initializer}, device);
}

Conv3d Conv3dConfig::init(const Device& device) const {
  return make<Conv3d>(
      Spec<3>{"Conv3dConfig", channels, kernel_size, stride, dilation, groups, padding, bias, initializer}, device);
}

Tensor<3> Conv1d::forward(const Tensor<3>& x, Loc where) const { return convolve(*this, x, where); }
Tensor<4> Conv2d::forward(const Tensor<4>& x, Loc where) const { return convolve(*this, x, where); }
Tensor<5> Conv3d::forward(const Tensor<5>& x, Loc where) const { return convolve(*this, x, where); }

}  // namespace burn::nn
