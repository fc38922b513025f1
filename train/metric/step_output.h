// What a model's step gave, in the form that the training's engine and the metrics share: without ranks.
#pragma once

#include <cstdint>

#include "client/tensor/tensor.h"

namespace burn::train {

// A model's step(batch) returns something with `StepOutput step_output() const`: one of the outputs of
// train/learner/output.h, or a struct of the user's own.
struct StepOutput {
  client::Value loss;      // [1]
  client::Value output;    // the predictions; may be empty
  client::Value targets;   // what was to be predicted; may be empty
  std::int64_t items = 0;  // in the batch

  // As tensors, with the rank and kind that the reader expects; they throw when it is another.
  template <int D, Kind K = Float>
  Tensor<D, K> output_as() const {
    return Tensor<D, K>{output};
  }
  template <int D, Kind K = Float>
  Tensor<D, K> targets_as() const {
    return Tensor<D, K>{targets};
  }

  // Off the tape.
  StepOutput inner() const {
    const auto off = [](const client::Value& value) { return value.has_value() ? value.inner() : value; };
    return {off(loss), off(output), off(targets), items};
  }
};

}  // namespace burn::train
