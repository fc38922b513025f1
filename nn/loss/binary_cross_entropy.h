// Binary cross-entropy.
#pragma once

#include <optional>
#include <vector>

#include "client/tensor/tensor.h"
#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// The mean of -(t log p + (1 - t) log(1 - p)), where t is the target, in [0, 1], and p the input, or with `logits` its
// sigmoid. A p of exactly 0 or 1 is replaced by the nearest number inside the interval. Targets may be floats, whole
// numbers or bools.
//
// Weights: for rank 1, two: those of targets 0 and 1, interpolated for targets in between; otherwise one for each entry
// of the last dim (several labels per sample). The mean is still over all elements. Smoothing a: t becomes t (1 - a) +
// a / labels (2 for rank 1).
struct BinaryCrossEntropyLoss {
  std::optional<RunningState<1>> weights{};  // not a parameter, but moves with the module
  std::optional<double> smoothing{};
  bool logits = false;
  BURN_MODULE(BinaryCrossEntropyLoss, weights)

  // Shapes: [...], [...] -> [1]. Errors: shapes that differ; another number of weights.
  BURN_FORWARD(nullptr, (template <int D, Kind K>), Tensor<1>, (const Tensor<D>& x, const Tensor<D, K>& targets),
               (x.value(), targets.value()))
  client::Value apply(const client::Value& x, const client::Value& targets, const client::Site& site) const;
};

struct BinaryCrossEntropyLossConfig {
  std::optional<std::vector<double>> weights{};
  std::optional<double> smoothing{};  // 0 to 1
  bool logits = false;
  BURN_CONFIG(BinaryCrossEntropyLossConfig, weights, smoothing, logits)

  BinaryCrossEntropyLoss init(
      const Device& device) const;  // Errors: a weight that is not positive; a smoothing out of range.
};

}  // namespace burn::nn
