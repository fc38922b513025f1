// Normalisation by channel (Ulyanov et al., arXiv:1607.08022).
#pragma once

#include <optional>

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// GroupNorm with one channel per group.
struct InstanceNorm {
  std::optional<Param<1>> gamma{}, beta{};  // [channel]
  double epsilon = 1e-5;
  BURN_MODULE(InstanceNorm, gamma, beta)

  // Shapes: [batch, channel, ...] -> the same. Errors: other channels.
  BURN_FORWARD_ANY_RANK(nullptr, 2)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct InstanceNormConfig {
  std::int64_t num_channels = 0;
  double epsilon = 1e-5;
  bool affine = true;
  BURN_CONFIG(InstanceNormConfig, num_channels, epsilon, affine)

  InstanceNorm init(const Device& device) const;  // gamma 1, beta 0. Errors: a size below 1.
};

}  // namespace burn::nn
