// Lion (Chen et al., arXiv:2302.06675): all elements take steps of the same size, with the sign of the momentum.
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// p = p - lr (sign(beta_1 m + (1 - beta_1) g) + weight_decay p), then m = beta_2 m + (1 - beta_2) g. Stores one tensor
// for each parameter, half as many as Adam. The paper's learning rates are 3 to 10 times smaller than those of AdamW,
// and its weight decays larger by the same factor.
struct LionConfig {
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(LionConfig, beta_1, beta_2, weight_decay, grad_clipping)
};

}  // namespace burn::optim
