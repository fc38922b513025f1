#include "compile/partition/other_axis.h"

#include <algorithm>

namespace burn::compile::partition {
namespace {

bool split_distinct_dims(const Form& a, const Form& b) {
  return !a.is_split() || !b.is_split() || a.layout.dim != b.layout.dim;
}

bool split_distinct_dims(std::span<const Form> a, std::span<const Form> b) {
  return std::ranges::equal(a, b, [](const Form& one, const Form& other) { return split_distinct_dims(one, other); });
}

}  // namespace

bool OtherAxis::allows(std::size_t n, const Choice& choice) const {
  if (!plan_) return true;
  const auto& node = program_.nodes[n];
  for (std::size_t k = 0; k < choice.results.size(); ++k) {
    if (!split_distinct_dims(plan_->values[node.first_value + k].form, choice.results[k])) return false;
  }
  return std::ranges::all_of(plan_->nodes[n].choices, [&](const Choice& other) {
    return split_distinct_dims(other.operands, choice.operands) && split_distinct_dims(other.results, choice.results);
  });
}

bool OtherAxis::allows(ir::Ref value, const Form& form) const {
  return !plan_ || split_distinct_dims(plan_->of(value).form, form);
}

bool OtherAxis::allows_output(std::size_t k, const Form& form) const {
  return !plan_ || split_distinct_dims(plan_->outputs[k], form);
}

bool OtherAxis::combines_otherwise(std::size_t n, std::size_t k, ir::ReduceFn fn) const {
  return plan_ && std::ranges::any_of(plan_->nodes[n].choices, [&](const Choice& other) {
           return other.results[k].is_partial && other.results[k].fn != fn;
         });
}

}  // namespace burn::compile::partition
