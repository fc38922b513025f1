// What a metric measures of one batch: on its way to the host, and on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::metric {

// The tensors that a metric wants to read of a batch: any number of them, of any kind and shape, different from batch
// to batch. A tensor is one by itself:
//
//   Measured record(const StepOutput& output) const override { return output.output_as<2>().argmax(1); }
class Measured {
 public:
  Measured() = default;  // nothing is read of this batch
  template <int D, Kind K>
  Measured(const Tensor<D, K>& tensor) : tensors_{tensor.value()} {}  // NOLINT: implicit, one is the usual case
  explicit Measured(std::vector<client::Value> tensors) : tensors_(std::move(tensors)) {}
  template <int D, Kind K>
  Measured& add(const Tensor<D, K>& tensor) {
    tensors_.push_back(tensor.value());
    return *this;
  }

  const std::vector<client::Value>& tensors() const { return tensors_; }

 private:
  std::vector<client::Value> tensors_;
};

// What has come in of a batch, and what the host knows of its step.
struct MeasuredBatch {
  std::span<const TensorData> tensors;  // as record() gave them: in that order, with those shapes and dtypes
  std::int64_t items = 0;               // of the batch
  double rate = 0;                      // the learning rate of the step; 0: there is none
  std::optional<Device> device;         // that the step was computed on
};

}  // namespace burn::metric
