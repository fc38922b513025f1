// Noise added in training.
#pragma once

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// In training, adds normal noise with this standard deviation.
struct GaussianNoise {
  double std = 0.1;
  Training training{};
  BURN_MODULE(GaussianNoise, training)

  // Shapes: [...] -> the same.
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};
struct GaussianNoiseConfig {
  double std = 0.1;
  BURN_CONFIG(GaussianNoiseConfig, std)
  GaussianNoise init() const;  // Errors: a negative deviation.
};

}  // namespace burn::nn
