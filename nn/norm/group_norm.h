// Normalisation by groups of channels (Wu and He, arXiv:1803.08494).
#pragma once

#include <optional>

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

namespace detail {
client::Value group_norm(const client::Value& x, std::int64_t groups, const client::Value* gamma,
                         const client::Value* beta, double epsilon, const client::Site& site);
}

// Normalises over all elements of a sample in a group of channels; then, unless affine is off, applies gamma x + beta
// per channel.
struct GroupNorm {
  std::optional<Param<1>> gamma{}, beta{};  // [channel]
  std::int64_t num_groups = 1;
  double epsilon = 1e-5;
  BURN_MODULE(GroupNorm, gamma, beta)

  // Shapes: [batch, channel, ...] -> the same. Errors: groups that do not divide the channels, other channels.
  BURN_FORWARD_ANY_RANK(nullptr, 2)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct GroupNormConfig {
  std::int64_t num_groups = 0, num_channels = 0;
  double epsilon = 1e-5;
  bool affine = true;
  BURN_CONFIG(GroupNormConfig, num_groups, num_channels, epsilon, affine)

  GroupNorm init(const Device& device) const;  // gamma 1, beta 0. Errors: groups that do not divide the channels.
};

}  // namespace burn::nn
