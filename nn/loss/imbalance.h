// Losses for imbalanced classes, of which one is much rarer than the other: small objects in large images.
#pragma once

#include "nn/loss/loss_module.h"
#include "nn/module/config.h"

namespace burn::nn {

// Binary cross-entropy of logits that weights well-classified elements down (Lin et al., arXiv:1708.02002;
// torchvision's sigmoid_focal_loss): -a (1 - p)^gamma log p, where p is the probability that sigmoid(input) assigns to
// the target, and a is alpha where the target is 1 and 1 - alpha where it is 0. A negative alpha omits the factor a.
struct FocalLoss {
  double alpha = 0.25;
  double gamma = 2;
  BURN_PAIR_LOSS(FocalLoss, Reduction::auto_)
};
struct FocalLossConfig {
  double alpha = 0.25;
  double gamma = 2;
  BURN_CONFIG(FocalLossConfig, alpha, gamma)
  FocalLoss init() const;  // Errors: an alpha above 1; a negative gamma.
};

// 1 - (2 sum(p t) + smooth) / (sum(p) + sum(t) + smooth) of each sample, over all its other dims (Milletari et al.,
// arXiv:1606.04797). p is sigmoid(input), or the input itself without `logits`; with `squared` the denominator sums
// squares, as in the paper.
struct DiceLoss {
  double smooth = 1;
  bool logits = true;
  bool squared = false;
  BURN_MODULE(DiceLoss)

  // Shapes: [batch, ...] twice -> [1]; forward_no_reduction: -> [batch]. Targets are floats, whole numbers or bools.
  // Errors: shapes that differ.
  BURN_LOSS_METHODS((template <int D, Kind K> requires(D >= 2)), Tensor<1>, Reduction::auto_,
                    (const Tensor<D>& predictions, const Tensor<D, K>& targets), (predictions.value(), targets.value()))

  client::Value apply(const client::Value& predictions, const client::Value& targets,
                      std::optional<Reduction> reduction, const client::Site& site) const;
};
struct DiceLossConfig {
  double smooth = 1;
  bool logits = true;
  bool squared = false;
  BURN_CONFIG(DiceLossConfig, smooth, logits, squared)
  DiceLoss init() const;  // Errors: a negative smooth.
};

}  // namespace burn::nn
