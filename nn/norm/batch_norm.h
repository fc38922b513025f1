// Batch normalisation (Ioffe and Szegedy, arXiv:1502.03167), for any number of dims after the channels.
#pragma once

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

namespace detail {
// Normalises with the given statistics; all arguments but x are [channel].
client::Value batch_norm(const client::Value& x, const client::Value& gamma, const client::Value& beta,
                         const client::Value& mean, const client::Value& var, double epsilon, const client::Site& site);
}  // namespace detail

// y = gamma (x - mean) / sqrt(var + epsilon) + beta, per channel.
//
// In training, mean and (biased) variance are the batch's, and each forward() updates the running statistics: new = old
// (1 - momentum) + batch momentum. Otherwise the running statistics are used. valid() and train() of the module set
// whether it trains; until one of them is called, it trains if the layer is on an autodiff device. Freezing (no_grad)
// affects gamma and beta only: a frozen layer in training still normalises by the batch and updates its statistics, as
// in PyTorch and Burn. training.set(Training::Mode::off) keeps them.
struct BatchNorm {
  Param<1> gamma, beta;                       // [channel]
  RunningState<1> running_mean, running_var;  // [channel]; the biased variance, as in Burn
  double momentum = 0.1, epsilon = 1e-5;
  Training training{};
  BURN_MODULE(BatchNorm, gamma, beta, running_mean, running_var, momentum, epsilon, training)

  // Shapes: [batch, channel, ...] -> the same. Errors: other channels; an empty batch in training.
  BURN_FORWARD_ANY_RANK(nullptr, 2)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct BatchNormConfig {
  std::int64_t num_features = 0;  // channels
  double epsilon = 1e-5, momentum = 0.1;
  BURN_CONFIG(BatchNormConfig, num_features, epsilon, momentum)

  // gamma 1, beta 0, running mean 0, running variance 1. Errors: no channels; a momentum outside 0 to 1.
  BatchNorm init(const Device& device) const;
};

}  // namespace burn::nn
