#include "nn/conv/conv.h"

#include "client/fail.h"
#include "nn/conv/conv_sizes.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

template <typename Layer, std::size_t N, typename Config>
Layer make(const detail::ConvSizes<N>& sizes, const Config& config, const Device& device) {
  sizes.check();
  detail::check_padding(sizes.config, config.padding.kind, config.padding.begin, config.padding.end);
  Layer layer{.stride = sizes.stride, .dilation = sizes.dilation, .groups = sizes.groups, .padding = config.padding};
  detail::init_conv(layer, sizes, false, config.bias, config.initializer, device);
  return layer;
}

template <typename Layer>
client::Value convolve(const Layer& layer, const client::Value& x, int rank, const client::Site& site) {
  detail::check_rank("conv", x, rank, site);
  const client::Value weight = detail::held(layer.weight, "Conv: weight", site);
  if (const auto channels = weight.dim(1) * layer.groups; x.dim(1) != channels) {
    client::fail(
        "conv: the layer takes " + std::to_string(channels) + " channels, the input is " + ir::to_string(x.type()),
        site);
  }
  const auto padding = detail::resolve_padding(layer.padding.kind, layer.padding.begin, layer.padding.end, x.shape(),
                                               {weight.shape().span().subspan(2), layer.stride, layer.dilation});
  const ir::Conv options{.stride = ir::Dims{std::span{layer.stride}},
                         .pad_begin = padding.begin,
                         .pad_end = padding.end,
                         .dilation = ir::Dims{std::span{layer.dilation}},
                         .groups = layer.groups};
  const auto bias = detail::held_if_any(layer.bias, site);
  return client::conv(x, weight, detail::pointer_to(bias), options, site);
}

}  // namespace

Conv1d Conv1dConfig::init(const Device& device) const {
  return make<Conv1d>(
      detail::ConvSizes<1>{"Conv1dConfig", {channels_in, channels_out}, {kernel_size}, {stride}, {dilation}, groups},
      *this, device);
}

Conv2d Conv2dConfig::init(const Device& device) const {
  return make<Conv2d>(detail::ConvSizes<2>{"Conv2dConfig", channels, kernel_size, stride, dilation, groups}, *this,
                      device);
}

Conv3d Conv3dConfig::init(const Device& device) const {
  return make<Conv3d>(detail::ConvSizes<3>{"Conv3dConfig", channels, kernel_size, stride, dilation, groups}, *this,
                      device);
}

client::Value Conv1d::apply(const client::Value& x, const client::Site& site) const {
  return convolve(*this, x, 3, site);
}
client::Value Conv2d::apply(const client::Value& x, const client::Site& site) const {
  return convolve(*this, x, 4, site);
}
client::Value Conv3d::apply(const client::Value& x, const client::Site& site) const {
  return convolve(*this, x, 5, site);
}

}  // namespace burn::nn
