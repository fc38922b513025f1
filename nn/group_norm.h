// Normalisations beside batch and layer norm: by groups of channels (Wu and He, arXiv:1803.08494), by channel (Ulyanov
// et al., arXiv:1607.08022), by the root of the mean square (Zhang and Sennrich, arXiv:1910.07467).
#pragma once

#include <optional>

#include "nn/config.h"
#include "nn/forward.h"
#include "nn/module.h"

namespace burn::nn {

namespace detail {
client::Value group_norm(const client::Value& x, std::int64_t groups, const client::Value* gamma,
                         const client::Value* beta, double epsilon, const client::Site& site);
}

// Over all elements of a sample that are in a group of channels; then, unless affine is off, gamma x + beta for each
// channel.
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

// A group for each channel.
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

// gamma x / sqrt(mean(x^2) + epsilon) over the last dim.
struct RmsNorm {
  Param<1> gamma;  // [d_model]
  double epsilon = 1e-5;
  BURN_MODULE(RmsNorm, gamma)

  // Shapes: [..., d_model] -> the same. Errors: another last dim.
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct RmsNormConfig {
  std::int64_t d_model = 0;
  double epsilon = 1e-5;
  BURN_CONFIG(RmsNormConfig, d_model, epsilon)

  RmsNorm init(const Device& device) const;  // gamma 1. Errors: a size below 1, an epsilon that is not positive.
};

}  // namespace burn::nn
