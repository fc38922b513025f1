// NAdam: Adam with Nesterov's momentum (Dozat 2016).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// As torch.optim.NAdam, with its defaults. With mu_t = beta_1 (1 - 0.96^(t momentum_decay) / 2), m and v as in Adam,
// and v bias-corrected: the step is
// lr ((1 - mu_t) / (1 - mu_1 ... mu_t) g + mu_{t+1} / (1 - mu_1 ... mu_{t+1}) m) / (sqrt(v) + epsilon).
// The weight decay is added to the gradient, or with decoupled_weight_decay multiplies the parameter by
// 1 - lr weight_decay before the step. PyTorch's default learning rate is 2e-3.
struct NAdamConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(NAdamConfig, beta_1, beta_2, epsilon, weight_decay, momentum_decay, decoupled_weight_decay,
                        grad_clipping)

  static NAdamConfig pytorch() { return {}; }
};

}  // namespace burn::optim
