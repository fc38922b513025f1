// What a model's step(batch) returns: the loss, and what metrics look at.
#pragma once

#include "train/metric/step_output.h"

namespace burn::train {

struct ClassificationOutput {
  Tensor<1> loss;          // [1]
  Tensor<2> output;        // [batch, classes]
  Tensor<1, Int> targets;  // [batch]

  StepOutput step_output() const { return {loss.value(), output.value(), targets.value(), targets.dim(0)}; }
};

struct RegressionOutput {
  Tensor<1> loss;     // [1]
  Tensor<2> output;   // [batch, values]
  Tensor<2> targets;  // [batch, values]

  StepOutput step_output() const { return {loss.value(), output.value(), targets.value(), targets.dim(0)}; }
};

template <typename M, typename Batch>
inline constexpr bool kHasStep = requires(const M& model, const Batch& batch) { model.step(batch); };

// A model that can be trained on, and validated with, such batches.
template <typename M, typename Batch>
concept TrainableOn = requires(const M& model, const Batch& batch) {
  { model.step(batch).step_output() } -> std::same_as<StepOutput>;
};

}  // namespace burn::train
