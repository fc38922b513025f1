#include "train/optim/sparse_update.h"

#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"

namespace burn::optim::detail {

using client::current_site;
using client::Value;

bool steps_rows(const TensorOptimizer& rule, const Slot& slot, const nn::ModuleWalk& module) {
  const auto support = rule.sparse_gradients();
  if (support.refusal.empty()) return !support.as_dense;
  std::string path;
  nn::for_each_slot(module, [&](const std::string& name, const Slot& other) {
    if (path.empty() && other.id == slot.id) path = name;
  });
  client::fail("step: " + std::string{rule.name()} + " takes no sparse gradient of " + path + ", " +
                   ir::to_string(slot.value.type()) + ": " + std::string{support.refusal},
               current_site());
}

Value write_rows(const Value& table, const Value& index, const Value& rows) {
  return client::select_assign(table, 0, index, rows, ir::ScatterFn::assign, current_site());
}

Value step_rows(const TensorOptimizer& rule, std::span<const Value> numbers, const Value& table,
                const client::SummedRows& gradient, const Value& ok, std::vector<Value>& state) {
  if (const auto count = rule.state_names().size(); state.size() < count) {
    state.assign(count, client::filled(client::place_of(table), table.shape(), 0, ir::compute_dtype(table.dtype()),
                                       current_site()));
  }
  if (gradient.index.dim(0) == 0) return table;
  // If the step is not taken, for example because an index is outside the table, row 0 is written back.
  const auto no_row =
      client::filled(client::place_of(table), gradient.index.shape(), 0, gradient.index.dtype(), current_site());
  const auto index = client::select(ok, gradient.index, no_row, current_site());
  const auto rows_of = [&](const Value& all) { return client::select_rows(all, 0, index, current_site()); };
  const Value before = client::to_compute_dtype(rows_of(table), current_site());
  std::vector<Value> state_before;
  state_before.reserve(state.size());
  for (const auto& tensor : state) state_before.push_back(rows_of(tensor));
  auto state_after = state_before;
  Value after = rule.update_rows(numbers, before, gradient.rows, state_after);
  const auto write = [&](const Value& all, const Value& rows, const Value& rows_before) {
    const Value taken = client::select(ok, rows, rows_before, current_site());
    return write_rows(all, index, client::cast(taken, all.dtype(), current_site()));
  };
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = write(state[i], state_after[i], state_before[i]);
  return write(table, after, before);
}

}  // namespace burn::optim::detail
