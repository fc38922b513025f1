// Stochastic gradient descent.
#pragma once

#include <optional>

#include "train/optim/optimizer.h"

namespace burn::optim {

// The velocity v = momentum v + (1 - dampening) g replaces the gradient; with nesterov, g + momentum v does. The first
// velocity is the gradient itself. Defaults are Burn's; PyTorch's dampening is 0, and its momentum has no default.
struct MomentumConfig {
  double momentum = 0.9;
  double dampening = 0.1;
  bool nesterov = false;
  BURN_CONFIG(MomentumConfig, momentum, dampening, nesterov)

  static MomentumConfig pytorch(double momentum) { return {.momentum = momentum, .dampening = 0}; }
};

// p = p - lr g. The weight decay is added to the gradient: g = g + weight_decay p.
struct SgdConfig {
  double weight_decay = 0;
  std::optional<MomentumConfig> momentum;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(SgdConfig, weight_decay, momentum, grad_clipping)

  // torch.optim.SGD(momentum=momentum); 0: no momentum.
  static SgdConfig pytorch(double momentum = 0) {
    if (momentum == 0) return {};
    return {.momentum = MomentumConfig::pytorch(momentum)};
  }
};

}  // namespace burn::optim
