// Local response normalisation (Krizhevsky et al., 2012) over neighbouring channels.
#pragma once

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// y = x / (k + alpha m)^beta, where m is the mean of the squares of `size` neighbouring channels, c - (size - 1) / 2 to
// c + size / 2. The divisor is `size` also at the edges, where some of these channels do not exist.
struct LocalResponseNorm {
  std::int64_t size = 1;
  double alpha = 1e-4, beta = 0.75, k = 1;
  BURN_MODULE(LocalResponseNorm)

  // Shapes: [batch, channel, ...] -> the same.
  BURN_FORWARD_ANY_RANK(nullptr, 2)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct LocalResponseNormConfig {
  std::int64_t size = 0;  // channels
  double alpha = 1e-4, beta = 0.75, k = 1;
  BURN_CONFIG(LocalResponseNormConfig, size, alpha, beta, k)

  LocalResponseNorm init() const;  // Errors: a size below 1.
};

}  // namespace burn::nn
