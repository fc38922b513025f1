#include "autodiff/shared_factors.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace burn::autodiff {
namespace {

using client::Value;

// Concatenates the rows of the matrices, in an order that depends on their shapes only. Matrices of equal shape are
// stacked along a new dim after the rows: rows that are split over workers need not move, and if a gradient was cut
// into the same pieces, it is concatenated by equal nodes (autodiff/slice_gradients.h), which the plan merges.
Value rows_of(std::vector<Value> parts, const ir::CallSite& site) {
  std::ranges::reverse(parts);  // the pass has visited them last to first
  const ir::Shape shape = parts.front().shape();
  if (!std::ranges::all_of(parts, [&](const Value& part) { return part.shape() == shape; }))
    return client::concat(parts, 0, site);
  for (Value& part : parts) part = client::reshape(part, {shape[0], 1, shape[1]}, site);
  const auto rows = shape[0] * static_cast<std::int64_t>(parts.size());
  return client::reshape(client::concat(parts, 1, site), {rows, shape[1]}, site);
}

}  // namespace

bool SharedFactors::is_small_product(const client::TapeNode& node) {
  if (node.is_leaf || !std::holds_alternative<ir::MatMul>(node.op)) return false;
  const Value &a = node.operands[0], &b = node.operands[1];
  return b.is_tracked() && a.rank() == 2 && a.dim(0) <= kMaxRows;
}

void SharedFactors::add(std::uint32_t factor, Value a, Value g, const ir::CallSite& site) {
  auto& parts = parts_[factor];
  parts.as.push_back(std::move(a));
  parts.gs.push_back(std::move(g));
  parts.site = site;
}

Value SharedFactors::take(std::uint32_t factor) {
  if (parts_.empty()) return {};
  auto node = parts_.extract(factor);
  if (node.empty()) return {};
  auto& [as, gs, site] = node.mapped();
  const Value a = rows_of(std::move(as), site), g = rows_of(std::move(gs), site);
  return client::matmul(client::swap_dims(a, 0, 1, site), g, site);
}

}  // namespace burn::autodiff
