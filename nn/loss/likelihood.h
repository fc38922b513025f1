// Losses that are negative log-likelihoods, or distances of distributions.
#pragma once

#include "nn/loss/loss_module.h"
#include "nn/module/config.h"

namespace burn::nn {

// The Kullback-Leibler divergence, target (log target - prediction), of predictions that are log-probabilities. Targets
// are probabilities, or with `log_target` log-probabilities; a target of 0 contributes 0. Reduction::auto_ is
// batch_mean, which is the mathematical divergence; the mean over all elements is not.
struct KLDivLoss {
  bool log_target = false;
  BURN_PAIR_LOSS(KLDivLoss, Reduction::auto_)
};
struct KLDivLossConfig {
  bool log_target = false;
  BURN_CONFIG(KLDivLossConfig, log_target)
  KLDivLoss init() const { return {.log_target = log_target}; }
};

// The negative log-likelihood of a count under a Poisson distribution, without the term log target!: e^x - t x if
// predictions are logarithms of rates, x - t log(x + eps) if they are rates (log_input off). `full` adds Stirling's
// approximation t log t - t + log(2 pi t) / 2 where t is above 1.
struct PoissonNllLoss {
  bool log_input = true;
  bool full = false;
  double eps = 1e-8;
  BURN_PAIR_LOSS(PoissonNllLoss, Reduction::auto_)
};
struct PoissonNllLossConfig {
  bool log_input = true;
  bool full = false;
  double eps = 1e-8;
  BURN_CONFIG(PoissonNllLossConfig, log_input, full, eps)
  PoissonNllLoss init() const;  // Errors: an eps that is not positive.
};

// (log v + (input - target)^2 / v) / 2 of a predicted mean and variance, where v = max(variance, eps); `full` adds
// log(2 pi) / 2.
struct GaussianNLLLoss {
  double eps = 1e-6;
  bool full = false;
  BURN_MODULE(GaussianNLLLoss)

  // Shapes: [...], [...], [...] (dims of size 1 broadcast) -> [1]. Errors: shapes that differ.
  BURN_LOSS_METHODS((template <int D>), Tensor<D>, Reduction::auto_,
                    (const Tensor<D>& input, const Tensor<D>& target, const Tensor<D>& var),
                    (input.value(), target.value(), var.value()))

  client::Value apply(const client::Value& input, const client::Value& target, const client::Value& var,
                      std::optional<Reduction> reduction, const client::Site& site) const;
};
struct GaussianNLLLossConfig {
  double eps = 1e-6;
  bool full = false;
  BURN_CONFIG(GaussianNLLLossConfig, eps, full)
  GaussianNLLLoss init() const;  // Errors: an eps that is not positive.
};

}  // namespace burn::nn
