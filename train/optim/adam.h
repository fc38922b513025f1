// Adam (Kingma, Ba: arXiv 1412.6980) and AdamW (Loshchilov, Hutter: arXiv 1711.05101).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// m = beta_1 m + (1 - beta_1) g, v = beta_2 v + (1 - beta_2) g^2, both bias-corrected; p = p - lr m / (sqrt(v) +
// epsilon). The weight decay is added to the gradient. amsgrad uses the largest v so far. Defaults are Burn's;
// PyTorch's epsilon is 1e-8 (pytorch()), the others are the same.
// A sparse gradient updates only its own rows and their moments, like PyTorch's SparseAdam: the step is lr sqrt(1 -
// beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon), where t counts the steps of the whole parameter. With a weight
// decay or amsgrad a sparse gradient is an error of the step.
struct AdamConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-5;
  double weight_decay = 0;
  bool amsgrad = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdamConfig, beta_1, beta_2, epsilon, weight_decay, amsgrad, grad_clipping)

  static AdamConfig pytorch() { return {.epsilon = 1e-8}; }  // torch.optim.Adam
};

// Adam with the weight decay decoupled from the gradient: p = (1 - lr weight_decay) p before the step.
// With cautious_weight_decay (arXiv:2510.12402) only elements that the step moves toward zero anyway decay: those whose
// sign is that of m. Defaults are Burn's; PyTorch's epsilon is 1e-8, its weight_decay 1e-2. A sparse gradient is an
// error of the step.
struct AdamWConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-5;
  double weight_decay = 1e-4;
  bool cautious_weight_decay = false;
  bool amsgrad = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdamWConfig, beta_1, beta_2, epsilon, weight_decay, cautious_weight_decay, amsgrad,
                        grad_clipping)

  static AdamWConfig pytorch() { return {.epsilon = 1e-8, .weight_decay = 1e-2}; }  // torch.optim.AdamW
};

}  // namespace burn::optim
