// Cross-entropy of classes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/tensor/tensor.h"
#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// The mean over the batch of -log p[target], where p is softmax(logits), or the input itself without `logits` (then a p
// of 0 is replaced by the smallest normal number).
//
// Weights: each sample counts weights[target] times, and the sum is divided by the sum of these weights. Pad tokens:
// samples with such a target contribute nothing to the sum, but still count in the divisor. A pad token need not be a
// class: -100 is not looked up and has a weight of 0. Smoothing by a: the target distribution has a / classes for every
// class and 1 - a more for the target's own class.
struct CrossEntropyLoss {
  std::vector<std::int64_t> pad_tokens{};
  std::optional<RunningState<1>> weights{};  // [class]; not a parameter, but moves with the module
  std::optional<double> smoothing{};
  bool logits = true;
  BURN_MODULE(CrossEntropyLoss, weights)

  // Shapes: [batch, class], [batch] -> [1]. Errors: another number of targets; weights for another number of classes. A
  // target outside the classes is an error of the run.
  BURN_FORWARD("cross_entropy", (), Tensor<1>, (const Tensor<2>& x, const Tensor<1, Int>& targets),
               (x.value(), targets.value()))
  client::Value apply(const client::Value& x, const client::Value& targets, const client::Site& site) const;
};

struct CrossEntropyLossConfig {
  std::vector<std::int64_t> pad_tokens{};
  std::optional<std::vector<double>> weights{};  // one for each class, all positive
  std::optional<double> smoothing{};             // 0 to 1
  bool logits = true;
  BURN_CONFIG(CrossEntropyLossConfig, pad_tokens, weights, smoothing, logits)

  CrossEntropyLoss init(const Device& device) const;  // Errors: weights or a smoothing out of range.
};

namespace detail {
client::Value cross_entropy_with_logits(const client::Value& logits, const client::Value& target_probs,
                                        const client::Site& site);
}  // namespace detail

}  // namespace burn::nn

namespace burn::loss {

// Cross-entropy with target distributions: minus the sum over the last dim of target_probs log softmax(logits),
// averaged over the other dims. Shapes: [..., class], [..., class] -> [1]. Errors: shapes that differ.
template <int D>
Tensor<1> cross_entropy_with_logits(const Tensor<D>& logits, const Tensor<D>& target_probs,
                                    Loc where = Loc::current()) {
  return Tensor<1>{nn::detail::cross_entropy_with_logits(logits.value(), target_probs.value(),
                                                         at(where, "cross_entropy_with_logits"))};
}

}  // namespace burn::loss
