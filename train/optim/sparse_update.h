// The step of a parameter with a sparse gradient (client/ops/sparse_gradient.h): updates only the rows of the gradient.
// Private to train/.
#pragma once

#include <span>
#include <vector>

#include "client/ops/sparse_gradient.h"
#include "nn/module/module.h"
#include "train/optim/tensor_optimizer.h"

namespace burn::optim::detail {

// Whether the rule updates single rows; false if it needs the gradient as a dense tensor. Errors (thrown), with the
// parameter's path: the rule rejects sparse gradients.
bool steps_rows(const TensorOptimizer& rule, const Slot& slot, const nn::ModuleWalk& module);

// Returns `table` with its rows at `index` [n] replaced by `rows` [n, ...]. If an index occurs several times, its rows
// must be equal. Writes into the table itself if the run may overwrite it: if this is its last use and the input is
// donated.
client::Value write_rows(const client::Value& table, const client::Value& index, const client::Value& rows);

// Records the rule's step for the table's rows at gradient.index, and returns the new table; replaces `state` by the
// new state. Shapes: table [count, ...], gradient.rows [n, ...], state as the table, in the table's compute dtype;
// empty before the first step. `ok`: a bool of rank 0; if it is false, the old rows are written back.
client::Value step_rows(const TensorOptimizer& rule, std::span<const client::Value> numbers, const client::Value& table,
                        const client::SummedRows& gradient, const client::Value& ok, std::vector<client::Value>& state);

}  // namespace burn::optim::detail
