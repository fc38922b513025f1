// Dropout (Srivastava et al. 2014).
#pragma once

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// In training each element becomes 0 with probability `prob`, and the others are scaled by 1 / (1 - prob), which keeps
// the mean. Otherwise returns the input itself. valid() and train() of the module set whether it trains; until one of
// them is called, it trains if the input is on an autodiff device.
struct Dropout {
  double prob = 0.5;
  Training training{};
  BURN_MODULE(Dropout, prob, training)

  // Whether elements of `x` would be dropped.
  bool is_dropping(const client::Value& x) const { return prob > 0 && training.is_on(x); }

  // Shapes: [...] -> the same.
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct DropoutConfig {
  double prob = 0.5;
  BURN_CONFIG(DropoutConfig, prob)

  Dropout init() const;  // Errors: a probability outside 0 to 1.
};

}  // namespace burn::nn
