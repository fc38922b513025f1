// RMSprop (Hinton's lecture 6e).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// v = alpha v + (1 - alpha) g^2; the step is g / (sqrt(v) + epsilon), with momentum u = momentum u + g / (sqrt(v) +
// epsilon). centered subtracts the square of the gradients' mean from v, which then is their variance. The weight decay
// is added to the gradient. Defaults are Burn's; PyTorch's momentum is 0, its epsilon 1e-8.
struct RmsPropConfig {
  double alpha = 0.99;
  double momentum = 0.9;
  double epsilon = 1e-5;
  bool centered = false;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(RmsPropConfig, alpha, momentum, epsilon, centered, weight_decay, grad_clipping)

  static RmsPropConfig pytorch() { return {.momentum = 0, .epsilon = 1e-8}; }  // torch.optim.RMSprop
};

}  // namespace burn::optim
