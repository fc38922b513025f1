// AdaGrad (Duchi et al. 2011).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// s = s + g^2; p = p - lr / (1 + (step - 1) lr_decay) g / (sqrt(s) + epsilon). The weight decay is added to the
// gradient. Defaults are Burn's; PyTorch's epsilon is 1e-10. A sparse gradient updates only its own rows; with a weight
// decay it is an error of the step.
struct AdaGradConfig {
  double lr_decay = 0;
  double epsilon = 1e-5;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdaGradConfig, lr_decay, epsilon, weight_decay, grad_clipping)

  static AdaGradConfig pytorch() { return {.epsilon = 1e-10}; }  // torch.optim.Adagrad
};

}  // namespace burn::optim
