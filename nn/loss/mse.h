// Regression losses: mean squared error, Huber, smooth L1 and Lp.
#pragma once

#include "nn/loss/loss_module.h"
#include "nn/module/config.h"

namespace burn::nn {

// (prediction - target)^2, reduced.
struct MseLoss {
  BURN_PAIR_LOSS(MseLoss, Reduction::mean)
};

// With e = prediction - target: e^2 / 2 where |e| is at most delta, delta (|e| - delta / 2) elsewhere (Huber 1964).
struct HuberLoss {
  double delta = 1;
  BURN_PAIR_LOSS(HuberLoss, Reduction::auto_)
};
struct HuberLossConfig {
  double delta = 1;
  BURN_CONFIG(HuberLossConfig, delta)
  HuberLoss init() const;  // Errors: a delta that is not positive.
};

// Huber's loss divided by beta: e^2 / (2 beta) where |e| is below beta, |e| - beta / 2 elsewhere; |e| for a beta of 0.
struct SmoothL1Loss {
  double beta = 1;
  BURN_PAIR_LOSS(SmoothL1Loss, Reduction::auto_)
};
struct SmoothL1LossConfig {
  double beta = 1;
  BURN_CONFIG(SmoothL1LossConfig, beta)
  SmoothL1Loss init() const;  // Errors: a negative beta.
};

// |prediction - target|^p, without taking a root. Where the two are equal and p is below 1, the gradient would be
// infinite and is taken as 0.
struct LpLoss {
  double p = 2;
  BURN_PAIR_LOSS(LpLoss, Reduction::auto_)
};
struct LpLossConfig {
  double p = 2;
  BURN_CONFIG(LpLossConfig, p)
  LpLoss init() const;  // Errors: a p that is not positive.
  static LpLoss l1() { return {.p = 1}; }
  static LpLoss l2() { return {.p = 2}; }
};

}  // namespace burn::nn
