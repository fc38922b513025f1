// Layer normalisation (Ba, Kiros and Hinton, arXiv:1607.06450), over the last dim.
#pragma once

#include <optional>

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

namespace detail {
// Normalises x; gamma and, unless null, beta are [d], where d is the last dim of x.
client::Value layer_norm(const client::Value& x, const client::Value& gamma, const client::Value* beta, double epsilon,
                         const client::Site& site);
}  // namespace detail

// y = gamma (x - mean) / sqrt(var + epsilon) + beta with the biased variance.
struct LayerNorm {
  Param<1> gamma;                  // [d_model]
  std::optional<Param<1>> beta{};  // [d_model]
  double epsilon = 1e-5;
  BURN_MODULE(LayerNorm, gamma, beta)

  // Shapes: [..., d_model] -> the same. Errors: another last dim.
  BURN_FORWARD_ANY_RANK(nullptr, 1)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct LayerNormConfig {
  std::int64_t d_model = 0;
  double epsilon = 1e-5;
  bool bias = true;  // beta
  BURN_CONFIG(LayerNormConfig, d_model, epsilon, bias)

  LayerNorm init(const Device& device) const;  // gamma 1, beta 0. Errors: a size below 1.
};

}  // namespace burn::nn
