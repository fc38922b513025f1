// The measurements of a metric for one batch: tensors on the device, and their values on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::metric {

// The tensors that a metric reads from a batch: any number, of any kind and shape, which may differ from batch to
// batch. Converts implicitly from a tensor:
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

// The values read from a batch, and facts about its step known to the host.
struct MeasuredBatch {
  std::span<const TensorData> tensors;  // the results of record(), in the same order, with the same shapes and dtypes
  std::int64_t items = 0;               // in the batch
  double rate = 0;                      // the learning rate of the step; 0: none
  std::optional<Device> device;         // on which the step was computed
};

}  // namespace burn::metric
