// Adadelta (Zeiler, arXiv:1212.5701).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// As torch.optim.Adadelta, with its defaults: v = rho v + (1 - rho) g^2, d = sqrt(u + epsilon) / sqrt(v + epsilon) g, u
// = rho u + (1 - rho) d^2, and the step is lr d. The weight decay is added to the gradient. PyTorch's default learning
// rate is 1.
struct AdaDeltaConfig {
  double rho = 0.9;
  double epsilon = 1e-6;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdaDeltaConfig, rho, epsilon, weight_decay, grad_clipping)

  static AdaDeltaConfig pytorch() { return {}; }
};

}  // namespace burn::optim
