#include "nn/norm/group_norm.h"

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Value;

client::Value detail::group_norm(const client::Value& value, std::int64_t groups, const client::Value* gamma,
                                 const client::Value* beta, double epsilon, const client::Site& site) {
  check_rank_at_least("group_norm", value, 2, site);
  if (gamma) client::fail_if_empty(*gamma, "GroupNorm: gamma", site);
  if (beta) client::fail_if_empty(*beta, "GroupNorm: beta", site);
  const auto channels = value.dim(1);
  if (groups < 1 || channels % groups != 0) {
    client::fail("group_norm: " + std::to_string(groups) + " groups do not divide the channels of " +
                     ir::to_string(value.type()),
                 site);
  }
  if (gamma && gamma->dim(0) != channels) {
    client::fail("group_norm: the layer has " + std::to_string(gamma->dim(0)) + " channels, the input is " +
                     ir::to_string(value.type()),
                 site);
  }
  if (value.type().num_elements() == 0) return value;
  ir::Shape shape = ir::Shape::filled(value.rank(), 1);  // [1, channel, 1, ...]
  shape[1] = channels;
  const auto per_channel = [&](const client::Value& v) {
    return client::reshape(client::to_compute_dtype(v, site), shape, site);
  };
  return client::in_wide_dtype(value, site, [&](const Value& wide) {
    const Value x = client::reshape(wide, {value.dim(0), groups, -1}, site);  // [batch, group, rest]
    const ir::Dims axis{2};
    const Value centred = x - client::mean(x, axis, site);
    const Value var = client::mean(centred * centred, axis, site);
    Value y = client::reshape(centred / sqrt(var + epsilon), value.shape(), site);
    if (gamma) y = y * per_channel(*gamma);
    if (beta) y = y + per_channel(*beta);
    return y;
  });
}

Value GroupNorm::apply(const Value& x, const client::Site& site) const {
  const auto scale = detail::held_if_any(gamma, site), shift = detail::held_if_any(beta, site);
  return detail::group_norm(x, num_groups, detail::pointer_to(scale), detail::pointer_to(shift), epsilon, site);
}

GroupNorm GroupNormConfig::init(const Device& device) const {
  detail::check_at_least("GroupNormConfig", "num_groups", num_groups, 1);
  detail::check_at_least("GroupNormConfig", "num_channels", num_channels, 1);
  if (num_channels % num_groups != 0) {
    detail::reject("GroupNormConfig",
                   std::to_string(num_groups) + " groups do not divide " + std::to_string(num_channels) + " channels");
  }
  GroupNorm layer{.num_groups = num_groups, .epsilon = epsilon};
  if (affine) {
    layer.gamma = Tensor<1>::ones({num_channels}, device);
    layer.beta = Tensor<1>::zeros({num_channels}, device);
  }
  return layer;
}

}  // namespace burn::nn
