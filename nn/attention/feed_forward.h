// The feed-forward part of a transformer's layer, applied to each position separately.
#pragma once

#include "nn/activation/activation_module.h"
#include "nn/layer/dropout.h"
#include "nn/layer/linear.h"
#include "nn/module/forward.h"

namespace burn::nn {

// outer(dropout(activation(inner(x)))) at every position.
struct PositionWiseFeedForward {
  Linear linear_inner, linear_outer;
  Dropout dropout;
  Activation activation = Gelu{};
  BURN_MODULE(PositionWiseFeedForward, linear_inner, linear_outer, dropout, activation)

  // Shapes: [..., d_model] -> the same. Errors: another last dim.
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct PositionWiseFeedForwardConfig {
  std::int64_t d_model = 0, d_ff = 0;
  double dropout = 0.1;
  Initializer initializer = default_initializer();
  AnyActivationConfig activation = "gelu";  // any, including those that change the width (glu, swi_glu)
  BURN_CONFIG(PositionWiseFeedForwardConfig, d_model, d_ff, dropout, initializer, activation)

  PositionWiseFeedForward init(
      const Device& device) const;  // Errors: sizes below 1; an unknown activation, or one that does not take d_ff.
};

}  // namespace burn::nn
