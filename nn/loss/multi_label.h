// Losses of samples that have any number of classes at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nn/loss/loss_module.h"
#include "nn/module/config.h"
#include "nn/module/param.h"

namespace burn::nn {

// The sum of max(0, 1 - x[k] + x[i]) over the sample's classes k and all other classes i, divided by the number of
// classes, as in torch.nn.MultiLabelMarginLoss.
struct MultiLabelMarginLoss {
  BURN_MODULE(MultiLabelMarginLoss)

  // Shapes: [batch, class], [batch, class] -> [1]; forward_no_reduction: -> [batch]. Targets are the numbers of the
  // sample's classes, in any order, up to the first negative number. Errors: shapes that differ. A number that is not a
  // class is an error of the run.
  BURN_LOSS_METHODS((), Tensor<1>, Reduction::auto_, (const Tensor<2>& input, const Tensor<2, Int>& targets),
                    (input.value(), targets.value()))

  client::Value apply(const client::Value& input, const client::Value& targets, std::optional<Reduction> reduction,
                      const client::Site& site) const;
};
struct MultiLabelMarginLossConfig {
  BURN_CONFIG(MultiLabelMarginLossConfig)
  MultiLabelMarginLoss init() const { return {}; }
};

// The mean over the classes of -(t log sigmoid(x) + (1 - t) log sigmoid(-x)) weights[class], as in
// torch.nn.MultiLabelSoftMarginLoss.
struct MultiLabelSoftMarginLoss {
  std::optional<RunningState<1>> weights{};  // [class]; not a parameter, but moves with the module
  BURN_MODULE(MultiLabelSoftMarginLoss, weights)

  // Shapes: [batch, class], [batch, class] -> [1]; forward_no_reduction: -> [batch]. Targets are 1 or 0: floats, whole
  // numbers or bools. Errors: shapes that differ; weights for another number of classes.
  BURN_LOSS_METHODS((template <Kind K>), Tensor<1>, Reduction::auto_,
                    (const Tensor<2>& input, const Tensor<2, K>& targets), (input.value(), targets.value()))

  client::Value apply(const client::Value& input, const client::Value& targets, std::optional<Reduction> reduction,
                      const client::Site& site) const;
};
struct MultiLabelSoftMarginLossConfig {
  std::optional<std::vector<double>> weights{};  // one for each class, all positive
  BURN_CONFIG(MultiLabelSoftMarginLossConfig, weights)

  MultiLabelSoftMarginLoss init(const Device& device) const;  // Errors: weights that are not positive.
};

}  // namespace burn::nn
