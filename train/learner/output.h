// What a model's step(batch) returns: the loss, and the tensors that metrics need. A user-defined struct works as well,
// with any tensors that its metrics need:
//
//   struct PolicyOutput {
//     Tensor<1> loss;
//     Tensor<1> reward;
//     StepOutput step_output() const {
//       return StepOutput{.loss = loss.value(), .items = reward.dim(0)}.with("reward", reward);
//     }
//   };
#pragma once

#include <concepts>
#include <optional>

#include "train/metric/step_output.h"
#include "train/optim/gradients_params.h"

namespace burn::train {

struct ClassificationOutput {
  Tensor<1> loss;          // [1]
  Tensor<2> output;        // [batch, classes]
  Tensor<1, Int> targets;  // [batch]

  StepOutput step_output() const { return {loss.value(), output.value(), targets.value(), targets.dim(0)}; }
};

// Output for items that may have any number of classes.
struct MultiLabelClassificationOutput {
  Tensor<1> loss;          // [1]
  Tensor<2> output;        // [batch, classes], any range: metrics compare with a threshold
  Tensor<2, Int> targets;  // [batch, classes], 0 or 1

  StepOutput step_output() const { return {loss.value(), output.value(), targets.value(), targets.dim(0)}; }
};

struct RegressionOutput {
  Tensor<1> loss;     // [1]
  Tensor<2> output;   // [batch, values]
  Tensor<2> targets;  // [batch, values]

  StepOutput step_output() const { return {loss.value(), output.value(), targets.value(), targets.dim(0)}; }
};

// Output of a model of sequences.
struct SequenceOutput {
  Tensor<1> loss;          // [1]
  Tensor<3> output;        // [batch, time, classes]
  Tensor<2, Int> targets;  // [batch, time]
  // The predicted tokens, if they are not those with the largest output: for example a decoder's, for text metrics.
  std::optional<Tensor<2, Int>> predictions = std::nullopt;  // [batch, time]

  StepOutput step_output() const {
    StepOutput all{loss.value(), output.value(), targets.value(), targets.dim(0)};
    return predictions ? std::move(all).with("predictions", *predictions) : all;
  }
};

// What train_step() returns if the model computes its gradients itself: for several losses, or for a part of its
// parameters for each optimizer. Otherwise the gradients are those of the output's loss.
template <typename Output>
struct TrainOutput {
  optim::GradientsParams gradients;
  Output output;
};
template <typename Output>
TrainOutput(optim::GradientsParams, Output) -> TrainOutput<Output>;

template <typename Output>
concept HasStepOutput = requires(const Output& output) {
  { output.step_output() } -> std::same_as<StepOutput>;
};
template <typename Output>
concept HasGradients = requires(Output& output) {
  { output.gradients } -> std::same_as<optim::GradientsParams&>;
  requires HasStepOutput<decltype(output.output)>;
};

template <typename M, typename Batch>
inline constexpr bool kHasTrainStep = requires(const M& model, const Batch& batch) { model.train_step(batch); };
template <typename M, typename Batch>
inline constexpr bool kHasValidStep = requires(const M& model, const Batch& batch) { model.valid_step(batch); };
template <typename M, typename Batch>
inline constexpr bool kHasBothSteps = requires(const M& model, const Batch& batch) { model.step(batch); };
// Whether the model has step(), or one function for each split.
template <typename M, typename Batch>
inline constexpr bool kHasStep = kHasBothSteps<M, Batch> || (kHasTrainStep<M, Batch> && kHasValidStep<M, Batch>);

template <typename M, typename Batch>
auto train_step_of(const M& model, const Batch& batch) {
  if constexpr (kHasTrainStep<M, Batch>) {
    return model.train_step(batch);
  } else {
    return model.step(batch);
  }
}
template <typename M, typename Batch>
auto valid_step_of(const M& model, const Batch& batch) {
  if constexpr (kHasValidStep<M, Batch>) {
    return model.valid_step(batch);
  } else {
    return model.step(batch);
  }
}

template <typename Output>
inline constexpr bool kIsTrainOutput = HasStepOutput<Output> || HasGradients<Output>;

template <typename M, typename Batch>
constexpr bool is_trainable_on() {
  if constexpr (kHasStep<M, Batch>) {
    return kIsTrainOutput<decltype(train_step_of(std::declval<const M&>(), std::declval<const Batch&>()))> &&
           HasStepOutput<decltype(valid_step_of(std::declval<const M&>(), std::declval<const Batch&>()))>;
  } else {
    return false;
  }
}

// A model that can be trained and validated with batches of this type.
template <typename M, typename Batch>
concept TrainableOn = is_trainable_on<M, Batch>();

}  // namespace burn::train
