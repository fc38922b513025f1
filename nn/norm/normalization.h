// Any of the normalisations, or none, for models whose configuration selects it.
#pragma once

#include <optional>
#include <variant>

#include "nn/layer/identity.h"
#include "nn/module/forward.h"
#include "nn/norm/batch_norm.h"
#include "nn/norm/group_norm.h"
#include "nn/norm/instance_norm.h"
#include "nn/norm/layer_norm.h"
#include "nn/norm/rms_norm.h"

namespace burn::nn {

struct Normalization {
  std::variant<Identity, BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RmsNorm> norm{};
  BURN_MODULE(Normalization, norm)

  // Shapes: [batch, channel, ...] (LayerNorm, RmsNorm: [..., d_model]) -> the same. Errors: those of the selected
  // layer.
  BURN_FORWARD_ANY_RANK(nullptr, 2)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

// Set at most one field; without any, the layer is Identity. NormalizationConfig{.layer = LayerNormConfig{.d_model =
// 64}}.
struct NormalizationConfig {
  std::optional<BatchNormConfig> batch{};
  std::optional<GroupNormConfig> group{};
  std::optional<InstanceNormConfig> instance{};
  std::optional<LayerNormConfig> layer{};
  std::optional<RmsNormConfig> rms{};
  BURN_CONFIG(NormalizationConfig, batch, group, instance, layer, rms)

  // Errors: more than one field set; those of the selected layer.
  Normalization init(const Device& device) const;
  // A copy with this number of channels or features.
  NormalizationConfig with_num_features(std::int64_t count) const;
};

}  // namespace burn::nn
