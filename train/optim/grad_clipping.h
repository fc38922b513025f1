// Limits gradients before a step, each parameter's gradient separately.
#pragma once

#include <optional>

#include "client/ops/sparse_gradient.h"
#include "client/value.h"
#include "nn/module/config.h"

namespace burn::optim {

// Set exactly one: {.value = 1} clamps every element to [-1, 1]; {.norm = 1} multiplies each gradient by min(1, 1 / its
// l2 norm), as in Burn, in the gradient's dtype (f32 for 16 bits). PyTorch clips all gradients by one norm, and adds
// 1e-6 to it: see GradientsParams::clip_norm.
struct GradientClippingConfig {
  std::optional<double> value;
  std::optional<double> norm;
  BURN_CONFIG(GradientClippingConfig, value, norm)
};

// Errors: both or neither of the limits set, or a limit that is not positive.
void check(const GradientClippingConfig& config);
client::Value clip(const GradientClippingConfig& config, const client::Value& gradient);
// Clips a sparse gradient; its values and norm are those of the summed rows.
client::SummedRows clip(const GradientClippingConfig& config, client::SummedRows gradient);

}  // namespace burn::optim
