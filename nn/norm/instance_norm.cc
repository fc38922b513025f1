#include "nn/norm/instance_norm.h"

#include "nn/module/checks.h"
#include "nn/norm/group_norm.h"

namespace burn::nn {

using client::Value;

Value InstanceNorm::apply(const Value& x, const client::Site& site) const {
  detail::check_rank_at_least("instance_norm", x, 2, site);
  const auto scale = detail::held_if_any(gamma, site), shift = detail::held_if_any(beta, site);
  return detail::group_norm(x, x.dim(1), detail::pointer_to(scale), detail::pointer_to(shift), epsilon, site);
}

InstanceNorm InstanceNormConfig::init(const Device& device) const {
  detail::check_at_least("InstanceNormConfig", "num_channels", num_channels, 1);
  InstanceNorm layer{.epsilon = epsilon};
  if (affine) {
    layer.gamma = Tensor<1>::ones({num_channels}, device);
    layer.beta = Tensor<1>::zeros({num_channels}, device);
  }
  return layer;
}

}  // namespace burn::nn
