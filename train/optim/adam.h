// Adam (Kingma, Ba: arXiv 1412.6980) and AdamW (Loshchilov, Hutter: arXiv 1711.05101).
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// m = beta_1 m + (1 - beta_1) g, v = beta_2 v + (1 - beta_2) g^2, both corrected for their start at zero;
// p = p - lr m / (sqrt(v) + epsilon). The weight decay is added to the gradient. amsgrad takes the largest v so far.
// Defaults are Burn's; PyTorch's epsilon is 1e-8, the others are the same.
struct AdamConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-5;
  double weight_decay = 0;
  bool amsgrad = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_CONFIG(AdamConfig, beta_1, beta_2, epsilon, weight_decay, amsgrad, grad_clipping)

  ModuleOptimizer init() const;
  template <Module M>
  Optimizer<M> init() const {
    return Optimizer<M>{init()};
  }
};

// Adam with the weight decay apart from the gradient: p = (1 - lr weight_decay) p before the step.
// Defaults are Burn's; PyTorch's epsilon is 1e-8, its weight_decay 1e-2.
struct AdamWConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-5;
  double weight_decay = 1e-4;
  bool amsgrad = false;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_CONFIG(AdamWConfig, beta_1, beta_2, epsilon, weight_decay, amsgrad, grad_clipping)

  ModuleOptimizer init() const;
  template <Module M>
  Optimizer<M> init() const {
    return Optimizer<M>{init()};
  }
};

}  // namespace burn::optim
