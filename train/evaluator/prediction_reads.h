// Predictions being read from the device, for a bounded number of batches.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <span>
#include <vector>

#include "client/tensor/data.h"
#include "client/value.h"

namespace burn::train {

// One thread at a time.
class PredictionReads {
 public:
  using Each = std::function<void(std::span<const TensorData> tensors)>;
  explicit PredictionReads(Each each) : each_(std::move(each)) {}

  // Starts reading the tensors of a batch, and passes those of earlier batches to the receiver until only as many
  // batches are in flight as keep the device busy. Errors: errors of the device; what the receiver throws.
  void push(const std::vector<client::Value>& tensors);
  void finish();  // passes on the remaining batches

 private:
  void take(std::size_t pending);

  const Each each_;
  std::deque<std::future<std::vector<TensorData>>> reads_;
};

}  // namespace burn::train
