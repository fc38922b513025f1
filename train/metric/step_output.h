// The result of a model's step as values without ranks, for the training's engine and the metrics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::train {

// A model's step(batch) returns a type with `StepOutput step_output() const`: one of the outputs of
// train/learner/output.h, or a user-defined struct. Metrics find tensors by name: "loss", "output", "targets", and
// those added by with().
struct StepOutput {
  client::Value loss;      // [1]
  client::Value output;    // the predictions; may be empty
  client::Value targets;   // the expected values; may be empty
  std::int64_t items = 0;  // in the batch
  std::vector<std::pair<std::string, client::Value>> others = {};

  // The same output with one more tensor, for metrics that need one of that name:
  //   StepOutput step_output() const { return StepOutput{loss.value()}.with("reward", reward); }
  template <int D, Kind K>
  StepOutput with(std::string name, const Tensor<D, K>& tensor) && {
    others.emplace_back(std::move(name), tensor.value());
    return std::move(*this);
  }

  // The tensor of that name; null if there is none.
  const client::Value* find(std::string_view name) const;

  const client::Value& at(std::string_view name) const;  // errors: INVALID_ARGUMENT if there is none

  // The values as tensors with the expected rank and kind. They throw if rank or kind differ; the last one also if
  // there is no tensor of that name: 'needs "reward"; the step gives loss f32[1], rewards f32[8]'.
  template <int D, Kind K = Float>
  Tensor<D, K> output_as() const {
    return Tensor<D, K>{output};
  }
  template <int D, Kind K = Float>
  Tensor<D, K> targets_as() const {
    return Tensor<D, K>{targets};
  }

  template <int D, Kind K = Float>
  Tensor<D, K> get(std::string_view name) const {
    return Tensor<D, K>{at(name)};
  }

  // The same values off the tape.
  StepOutput inner() const;
};

}  // namespace burn::train
