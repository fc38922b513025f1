// Predictions that are on their way from the device: a bounded number of batches.
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

  // Asks for the tensors of a batch, and hands on those of earlier batches until so few are on their way that the
  // device stays busy and no more. Errors: what went wrong on the device; what the receiver throws.
  void push(const std::vector<client::Value>& tensors);
  void finish();  // hands on the rest

 private:
  void take(std::size_t pending);

  const Each each_;
  std::deque<std::future<std::vector<TensorData>>> reads_;
};

}  // namespace burn::train
