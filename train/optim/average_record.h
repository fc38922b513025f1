// The tensors of a module's average, and their records: averages by the paths of their parameters, with two counts and
// the kind of average as metadata.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nn/module/module.h"
#include "store/record.h"

namespace burn::optim::detail {

// A tensor of the module. Lists have them in the order of their first places in a walk.
struct AveragedTensor {
  ParamId id;
  client::Value mean;  // empty: not averaged
  ir::DType dtype;     // the weights' dtype
};

// Whether the tensor is averaged: trained float parameters and running statistics are.
bool wants_average(const Slot& slot);

struct AverageCounts {
  std::int64_t steps = 0, updates = 0;
};

// `kind`: "ema" or "swa". Requires: the tensors match the module, or there was no update.
Record record_of_average(const char* kind, const AverageCounts& counts, std::span<const AveragedTensor> tensors,
                         const nn::ModuleWalk& module);

// Returns no tensors before the first update. Errors (thrown): a record that is not of an average, or of another kind;
// a tensor that is left over, not of floats, or of another shape than its parameter.
std::pair<AverageCounts, std::vector<AveragedTensor>> average_of_record(const Record& record, const char* kind,
                                                                        const nn::ModuleWalk& module);

}  // namespace burn::optim::detail
