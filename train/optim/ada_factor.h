// Adafactor (Shazeer, Stern, arXiv:1804.04235): of a matrix's squared gradients it stores only the means of rows and of
// columns.
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// As torch.optim.Adafactor, with its defaults. v is a running average of g^2, in which the old value has the weight 1 -
// t^beta2_decay; for a parameter of two dims or more it is the product of the means of rows and of columns, divided by
// the mean of the former. With u = g / sqrt(v), divided by max(1, rms(u) / clip_threshold): p = (1 - lr weight_decay)
// p, then p = p - max(epsilon_2, rms(p)) min(lr, 1 / sqrt(t)) u, where rms is the root of the mean square of the
// parameter before the decay. Stores a + b numbers for an [a, b] matrix. PyTorch's default learning rate is 1e-2.
struct AdaFactorConfig {
  double beta2_decay = -0.8;
  std::optional<double> epsilon_1{};  // lower bound of sqrt(v) and row means; none: the dtype's epsilon, 2^-23 for f32
  double epsilon_2 = 1e-3;
  double clip_threshold = 1;  // PyTorch's d
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(AdaFactorConfig, beta2_decay, epsilon_1, epsilon_2, clip_threshold, weight_decay, grad_clipping)

  static AdaFactorConfig pytorch() { return {}; }
};

}  // namespace burn::optim
