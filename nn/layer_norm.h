// Layer normalisation (Ba, Kiros and Hinton, arXiv:1607.06450), over the last dim.
#pragma once

#include <optional>

#include "nn/config.h"
#include "nn/module.h"

namespace burn::nn {

namespace detail {
// The formula: gamma and, unless null, beta are [d], the last dim of x.
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
  template <int D>
  Tensor<D> forward(const Tensor<D>& x, Loc where = Loc::current()) const {
    return Tensor<D>{run(x.value(), at(where))};
  }
  template <int D>
  Tensor<D> operator()(const Tensor<D>& x, Loc where = Loc::current()) const {
    return forward(x, where);
  }

 private:
  client::Value run(const client::Value& x, const client::Site& site) const;
};

struct LayerNormConfig {
  std::int64_t d_model = 0;
  double epsilon = 1e-5;
  bool bias = true;  // beta
  BURN_CONFIG(LayerNormConfig, d_model, epsilon, bias)

  LayerNorm init(const Device& device) const;  // gamma 1, beta 0. Errors: a size below 1.
};

}  // namespace burn::nn
