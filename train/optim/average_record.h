// The tensors that an average of a module has, and the records that it is saved as: averages by the paths of their
// parameters, with two counts and the kind of average as metadata.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nn/module/module.h"
#include "store/record.h"

namespace burn::optim::detail {

// A tensor of the module, in the order in which a walk first meets them.
struct AveragedTensor {
  ParamId id;
  client::Value mean;  // empty: not averaged
  ir::DType dtype;     // of the weights
};

// Floats that are trained, and running statistics.
bool wants_average(const Slot& slot);

struct AverageCounts {
  std::int64_t steps = 0, updates = 0;
};

// `kind`: "ema" or "swa". Requires: the tensors are those of the module, or there was no update.
Record record_of_average(const char* kind, const AverageCounts& counts, std::span<const AveragedTensor> tensors,
                         const nn::ModuleWalk& module);

// No tensors before the first update. Errors (thrown): a record of no average, or of another kind; a tensor left over,
// not of floats, or of another shape than its parameter.
std::pair<AverageCounts, std::vector<AveragedTensor>> average_of_record(const Record& record, const char* kind,
                                                                        const nn::ModuleWalk& module);

}  // namespace burn::optim::detail
