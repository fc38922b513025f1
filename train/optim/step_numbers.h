// The numbers of one optimizer step as scalars on the devices. Private to train/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/capture/state.h"
#include "client/value.h"
#include "nn/module/param.h"
#include "train/optim/tensor_optimizer.h"

namespace burn::optim::detail {

// Created once for all parameters with the same rule, rate, device, dtype and step.
class StepNumbers {
 public:
  // `host`: computes these numbers when a captured step is replayed.
  explicit StepNumbers(const client::CaptureHost& host) : host_(host) {}

  // The numbers for a parameter's `step`-th step.
  std::span<const client::Value> get(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like,
                                     std::int64_t step);

  // Sends what this thread has recorded for the devices.
  void flush() const;
  // Releases the scalars: one that is still held would become a result of the program.
  void drop_values();

 private:
  struct Entry {
    client::DeviceState* device;  // a parameter's device; kept alive by the module
    ir::DType dtype;
    std::int64_t step;
    const TensorOptimizer* rule;
    std::uint64_t lr, lr_source;  // the rate's bits; its index among a captured step's numbers
    std::vector<client::Value> values;
  };

  Entry make(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like, std::int64_t step) const;

  const client::CaptureHost& host_;
  std::vector<Entry> entries_;
};

}  // namespace burn::optim::detail
