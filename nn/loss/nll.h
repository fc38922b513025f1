// The negative log-likelihood of classes, computed from log-probabilities.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nn/loss/loss_module.h"
#include "nn/module/config.h"
#include "nn/module/param.h"

namespace burn::nn {

// -input[target] weights[target], as torch.nn.NLLLoss; inputs are log_softmax(x). The mean is over the samples whose
// target is not ignored; with weights it is the sum divided by the sum of their weights. Without any such sample it is
// 0.
struct NllLoss {
  std::optional<RunningState<1>> weights{};  // [class]; not a parameter, but moves with the module
  std::int64_t ignored_target = -100;        // samples with this target count in neither the sum nor the mean's divisor
  BURN_MODULE(NllLoss, weights)

  // Shapes: [batch, class], [batch] -> [1]. Errors: another number of targets; weights for another number of classes. A
  // target outside the classes is an error of the run, the ignored one excepted. forward_no_reduction: -> [batch].
  BURN_LOSS_METHODS((), Tensor<1>, Reduction::auto_, (const Tensor<2>& input, const Tensor<1, Int>& target),
                    (input.value(), target.value()))

  client::Value apply(const client::Value& input, const client::Value& target, std::optional<Reduction> reduction,
                      const client::Site& site) const;
};

struct NllLossConfig {
  std::optional<std::vector<double>> weights{};  // one for each class, all positive
  std::int64_t ignored_target = -100;
  BURN_CONFIG(NllLossConfig, weights, ignored_target)

  NllLoss init(const Device& device) const;  // Errors: weights that are not positive.
};

}  // namespace burn::nn
