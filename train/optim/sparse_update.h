// The step of a parameter, a table, whose gradient is sparse (client/ops/sparse_gradient.h): of the rows that the
// gradient has, and of nothing else. Private to train/.
#pragma once

#include <span>
#include <vector>

#include "client/ops/sparse_gradient.h"
#include "nn/module/module.h"
#include "train/optim/tensor_optimizer.h"

namespace burn::optim::detail {

// Whether the rule steps rows; false where it needs the gradient as a dense tensor. Errors (thrown): it refuses sparse
// gradients, by the parameter's path.
bool steps_rows(const TensorOptimizer& rule, const Slot& slot, const nn::ModuleWalk& module);

// `table` with `rows` [n, ...] in place of its rows at `index` [n]; where an index occurs several times, its rows have
// to be equal. Written into the table itself where the run may overwrite it: as its last use, of an input that is given
// away.
client::Value write_rows(const client::Value& table, const client::Value& index, const client::Value& rows);

// Records the rule's step of the table's rows at gradient.index, and returns the table after it; `state` becomes what
// is remembered after it. Shapes: table [count, ...], gradient.rows [n, ...], state as the table, in the dtype that the
// table's dtype computes in; empty before the first step. `ok`: a bool of rank 0; where it is false, the rows
// are written back as they were.
client::Value step_rows(const TensorOptimizer& rule, std::span<const client::Value> numbers, const client::Value& table,
                        const client::SummedRows& gradient, const client::Value& ok, std::vector<client::Value>& state);

}  // namespace burn::optim::detail
