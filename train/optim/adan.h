// Adan (Xie et al., arXiv:2208.06677).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// With d the difference to the previous gradient (0 in the first step): m averages g by beta_1, u averages d by beta_2,
// v averages (g + beta_2 d)^2 by beta_3, each bias-corrected; the step is (m + beta_2 u) / (sqrt(v) + epsilon). The
// weight decay divides the parameter by 1 + lr weight_decay after the step, or with no_prox multiplies it by 1 - lr
// weight_decay before.
struct AdanConfig {
  double beta_1 = 0.98;
  double beta_2 = 0.92;
  double beta_3 = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool no_prox = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdanConfig, beta_1, beta_2, beta_3, epsilon, weight_decay, no_prox, grad_clipping)
};

}  // namespace burn::optim
