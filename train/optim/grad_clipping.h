// Limits on gradients before a step; each parameter's gradient by itself.
#pragma once

#include <optional>

#include "client/ops/sparse_gradient.h"
#include "client/value.h"
#include "nn/module/config.h"

namespace burn::optim {

// {.value = 1}: every element into [-1, 1]. {.norm = 1}: each gradient times min(1, 1 / its l2 norm), as in Burn, in
// the gradient's dtype (f32 for 16 bits). One of the two. PyTorch clips all gradients by one norm, and adds 1e-6 to it:
// GradientsParams::clip_norm.
struct GradientClippingConfig {
  std::optional<double> value;
  std::optional<double> norm;
  BURN_CONFIG(GradientClippingConfig, value, norm)
};

// Errors: both or neither of the limits given, or one that is not positive.
void check(const GradientClippingConfig& config);
client::Value clip(const GradientClippingConfig& config, const client::Value& gradient);
// Of a sparse gradient: its values and its norm are those of the sums.
client::SummedRows clip(const GradientClippingConfig& config, client::SummedRows gradient);

}  // namespace burn::optim
