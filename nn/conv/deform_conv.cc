#include "nn/conv/deform_conv.h"

#include "client/fail.h"
#include "client/ops/sampling.h"
#include "nn/module/checks.h"

namespace burn::nn {

DeformConv2d DeformConv2dConfig::init(const Device& device) const {
  constexpr const char* kName = "DeformConv2dConfig";
  detail::check_at_least(kName, "channels", channels, 1);
  detail::check_at_least(kName, "kernel_size", kernel_size, 1);
  detail::check_at_least(kName, "stride", stride, 1);
  detail::check_at_least(kName, "dilation", dilation, 1);
  detail::check_at_least(kName, "weight_groups", weight_groups, 1);
  detail::check_at_least(kName, "offset_groups", offset_groups, 1);
  detail::check_padding(kName, padding.kind, padding.begin, padding.end);
  const auto [in, out] = channels;
  if (in % weight_groups != 0 || out % weight_groups != 0 || in % offset_groups != 0) {
    detail::reject(kName, std::to_string(weight_groups) + " weight groups and " + std::to_string(offset_groups) +
                              " offset groups do not divide " + std::to_string(in) + " input and " +
                              std::to_string(out) + " output channels");
  }
  const auto taps = kernel_size[0] * kernel_size[1];
  const auto fan_in = in / weight_groups * taps, fan_out = out / weight_groups * taps;
  DeformConv2d layer{
      .weight = initializer.init<4>({out, in / weight_groups, kernel_size[0], kernel_size[1]}, device, fan_in, fan_out),
      .stride = stride,
      .dilation = dilation,
      .weight_groups = weight_groups,
      .offset_groups = offset_groups,
      .padding = padding};
  if (bias) layer.bias = initializer.init<1>({out}, device, fan_in, fan_out);
  return layer;
}

client::Value DeformConv2d::apply(const client::Value& x, const client::Value& offset, const client::Value* mask,
                                  const client::Site& site) const {
  detail::check_rank("deform_conv2d", x, 4, site);
  const client::Value filters = detail::held(weight, "DeformConv2d: weight", site);
  const auto pads = detail::resolve_padding(padding.kind, padding.begin, padding.end, x.shape(),
                                            {filters.shape().span().subspan(2), stride, dilation});
  if (!pads.is_symmetric()) {
    client::fail("deform_conv2d: padding " + ir::to_string(pads.begin) + " and " + ir::to_string(pads.end) +
                     " differ at the two ends",
                 site);
  }
  const DeformConvOptions options{.stride = stride,
                                  .padding = {pads.begin[0], pads.begin[1]},
                                  .dilation = dilation,
                                  .weight_groups = weight_groups,
                                  .offset_groups = offset_groups};
  const auto shift = detail::held_if_any(bias, site);
  return client::deform_conv2d(x, offset, filters, mask, detail::pointer_to(shift), options, site);
}

}  // namespace burn::nn
