// Normalisation by the root of the mean square (Zhang and Sennrich, arXiv:1910.07467).
#pragma once

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// gamma x / sqrt(mean(x^2) + epsilon) over the last dim.
struct RmsNorm {
  Param<1> gamma;  // [d_model]
  double epsilon = 1e-5;
  BURN_MODULE(RmsNorm, gamma)

  // Shapes: [..., d_model] -> the same. Errors: another last dim.
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct RmsNormConfig {
  std::int64_t d_model = 0;
  double epsilon = 1e-5;
  BURN_CONFIG(RmsNormConfig, d_model, epsilon)

  RmsNorm init(const Device& device) const;  // gamma 1. Errors: a size below 1, an epsilon that is not positive.
};

}  // namespace burn::nn
