// The numbers of one step of an optimizer as scalars on its devices. Private to train/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/capture/state.h"
#include "client/value.h"
#include "nn/module/param.h"
#include "train/optim/tensor_optimizer.h"

namespace burn::optim::detail {

// Made once for all parameters of a rule, rate, device and dtype that are at the same step.
class StepNumbers {
 public:
  // `host`: gives these numbers when a captured step is replayed.
  explicit StepNumbers(const client::CaptureHost& host) : host_(host) {}

  // For a parameter that is about to take its `step`-th step.
  std::span<const client::Value> get(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like,
                                     std::int64_t step);

  // Sends what this thread has recorded for their devices.
  void flush() const;
  // Lets go of the scalars: one that is held would become a result of the program.
  void drop_values();

 private:
  struct Entry {
    client::DeviceState* device;  // that of a parameter, which the module holds
    ir::DType dtype;
    std::int64_t step;
    const TensorOptimizer* rule;
    std::uint64_t lr, lr_source;  // the rate's bits; which number of a captured step it is
    std::vector<client::Value> values;
  };

  Entry make(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like, std::int64_t step) const;

  const client::CaptureHost& host_;
  std::vector<Entry> entries_;
};

}  // namespace burn::optim::detail
