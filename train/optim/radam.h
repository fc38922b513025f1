// RAdam: Adam that takes adaptive steps only once their variance is tractable (Liu et al., arXiv:1908.03265).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// As torch.optim.RAdam, with its defaults. m and v are as in Adam, bias-corrected. With r_max = 2 / (1 - beta_2) - 1
// and r = r_max - 2 t beta_2^t / (1 - beta_2^t): while r is 5 or less the step is lr m; then it is lr m sqrt((r - 4) (r
// - 2) r_max / ((r_max - 4) (r_max - 2) r)) / (sqrt(v) + epsilon).
// The weight decay is added to the gradient, or with decoupled_weight_decay multiplies the parameter by
// 1 - lr weight_decay before the step.
struct RAdamConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(RAdamConfig, beta_1, beta_2, epsilon, weight_decay, decoupled_weight_decay, grad_clipping)

  static RAdamConfig pytorch() { return {}; }
};

}  // namespace burn::optim
