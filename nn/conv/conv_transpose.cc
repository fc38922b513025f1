#include "nn/conv/conv_transpose.h"

#include <algorithm>

#include "client/fail.h"
#include "nn/conv/conv_sizes.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

template <std::size_t N>
using Sizes = std::array<std::int64_t, N>;

template <typename Layer, std::size_t N, typename Config>
Layer make(const detail::ConvSizes<N>& sizes, const Sizes<N>& padding, const Sizes<N>& padding_out,
           const Config& config, const Device& device) {
  detail::check_at_least(sizes.config, "padding", padding, 0);
  detail::check_at_least(sizes.config, "padding_out", padding_out, 0);
  sizes.check();
  for (std::size_t i = 0; i < N; ++i) {
    if (padding_out[i] < std::max(sizes.stride[i], sizes.dilation[i])) continue;
    detail::reject(sizes.config, "padding_out " + std::to_string(padding_out[i]) + " is not below the stride " +
                                     std::to_string(sizes.stride[i]) + " or the dilation " +
                                     std::to_string(sizes.dilation[i]));
  }
  Layer layer{.stride = sizes.stride,
              .dilation = sizes.dilation,
              .padding = padding,
              .padding_out = padding_out,
              .groups = sizes.groups};
  detail::init_conv(layer, sizes, true, config.bias, config.initializer, device);
  return layer;
}

template <typename Layer>
client::Value convolve(const Layer& layer, const client::Value& x, int rank, const client::Site& site) {
  detail::check_rank("conv_transpose", x, rank, site);
  const client::Value weight = detail::held(layer.weight, "ConvTranspose: weight", site);
  if (x.dim(1) != weight.dim(0)) {
    client::fail("conv_transpose: the layer takes " + std::to_string(weight.dim(0)) + " channels, the input is " +
                     ir::to_string(x.type()),
                 site);
  }
  const ir::Dims padding{std::span{layer.padding}};
  const ir::Conv options{.stride = ir::Dims{std::span{layer.stride}},
                         .pad_begin = padding,
                         .pad_end = padding,
                         .dilation = ir::Dims{std::span{layer.dilation}},
                         .groups = layer.groups};
  const auto bias = detail::held_if_any(layer.bias, site);
  return client::conv_transpose(x, weight, detail::pointer_to(bias), options, ir::Dims{std::span{layer.padding_out}},
                                site);
}

}  // namespace

ConvTranspose1d ConvTranspose1dConfig::init(const Device& device) const {
  return make<ConvTranspose1d>(
      detail::ConvSizes<1>{"ConvTranspose1dConfig", channels, {kernel_size}, {stride}, {dilation}, groups}, {padding},
      {padding_out}, *this, device);
}

ConvTranspose2d ConvTranspose2dConfig::init(const Device& device) const {
  return make<ConvTranspose2d>(
      detail::ConvSizes<2>{"ConvTranspose2dConfig", channels, kernel_size, stride, dilation, groups}, padding,
      padding_out, *this, device);
}

ConvTranspose3d ConvTranspose3dConfig::init(const Device& device) const {
  return make<ConvTranspose3d>(
      detail::ConvSizes<3>{"ConvTranspose3dConfig", channels, kernel_size, stride, dilation, groups}, padding,
      padding_out, *this, device);
}

client::Value ConvTranspose1d::apply(const client::Value& x, const client::Site& site) const {
  return convolve(*this, x, 3, site);
}
client::Value ConvTranspose2d::apply(const client::Value& x, const client::Site& site) const {
  return convolve(*this, x, 4, site);
}
client::Value ConvTranspose3d::apply(const client::Value& x, const client::Site& site) const {
  return convolve(*this, x, 5, site);
}

}  // namespace burn::nn
