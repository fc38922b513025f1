// Any of the normalisations, or none, for models that leave the choice to their configuration.
#pragma once

#include <optional>
#include <variant>

#include "nn/batch_norm.h"
#include "nn/group_norm.h"
#include "nn/layer_norm.h"
#include "nn/noise.h"

namespace burn::nn {

struct Normalization {
  std::variant<Identity, BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RmsNorm> norm{};
  BURN_MODULE(Normalization, norm)

  // Shapes: [batch, channel, ...] (LayerNorm, RmsNorm: [..., d_model]) -> the same. Errors: those of the one chosen.
  template <int D>
    requires(D >= 2)
  Tensor<D> forward(const Tensor<D>& x, Loc where = Loc::current()) const {
    return std::visit(
        [&]<typename Norm>(const Norm& chosen) {
          if constexpr (std::same_as<Norm, Identity>)
            return x;
          else
            return chosen.forward(x, where);
        },
        norm);
  }
  template <int D>
    requires(D >= 2)
  Tensor<D> operator()(const Tensor<D>& x, Loc where = Loc::current()) const {
    return forward(x, where);
  }
};

// The layer that is given; none: Identity. NormalizationConfig{.layer = LayerNormConfig{.d_model = 64}}.
struct NormalizationConfig {
  std::optional<BatchNormConfig> batch{};
  std::optional<GroupNormConfig> group{};
  std::optional<InstanceNormConfig> instance{};
  std::optional<LayerNormConfig> layer{};
  std::optional<RmsNormConfig> rms{};
  BURN_CONFIG(NormalizationConfig, batch, group, instance, layer, rms)

  // Errors: more than one; those of the one given.
  Normalization init(const Device& device) const;
  // The same of so many channels or features.
  NormalizationConfig with_num_features(std::int64_t count) const;
};

}  // namespace burn::nn
