// RMSprop (Hinton's lecture 6e), AdaGrad (Duchi et al. 2011), Adan (Xie et al., arXiv:2208.06677).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// v = alpha v + (1 - alpha) g^2; the step is g / (sqrt(v) + epsilon), with momentum u = momentum u + that. centered
// takes the mean of the gradients out of v, which then is their variance. The weight decay is added to the gradient.
// Defaults are Burn's; PyTorch's momentum is 0, its epsilon 1e-8.
struct RmsPropConfig {
  double alpha = 0.99;
  double momentum = 0.9;
  double epsilon = 1e-5;
  bool centered = false;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(RmsPropConfig, alpha, momentum, epsilon, centered, weight_decay, grad_clipping)
};

// s = s + g^2; p = p - lr / (1 + (step - 1) lr_decay) g / (sqrt(s) + epsilon). The weight decay is added to the
// gradient. Defaults are Burn's; PyTorch's epsilon is 1e-10. Of a sparse gradient only the rows that it has are
// stepped; with a weight decay it is an error of the step.
struct AdaGradConfig {
  double lr_decay = 0;
  double epsilon = 1e-5;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdaGradConfig, lr_decay, epsilon, weight_decay, grad_clipping)
};

// With d the difference to the gradient before (0 in the first step): m averages g by beta_1, u averages d by beta_2, v
// averages (g + beta_2 d)^2 by beta_3, each corrected for its start at zero; the step is
// (m + beta_2 u) / (sqrt(v) + epsilon). The weight decay divides the parameter by 1 + lr weight_decay after the step,
// or with no_prox multiplies it by 1 - lr weight_decay before.
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
