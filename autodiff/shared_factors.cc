#include "autodiff/shared_factors.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace burn::autodiff {
namespace {

using client::Value;

// Matrices below each other. Those of one shape are put together in a new dim: a gradient that was cut into these same
// pieces is put together so, too (autodiff/pieces.h), and equal nodes are one in the plan.
Value below_each_other(std::vector<Value> parts, const ir::CallSite& site) {
  std::ranges::reverse(parts);  // as the pass has met them last to first
  const ir::Shape shape = parts.front().shape();
  if (!std::ranges::all_of(parts, [&](const Value& part) { return part.shape() == shape; }))
    return client::concat(parts, 0, site);
  for (Value& part : parts) part = client::reshape(part, {1, shape[0], shape[1]}, site);
  const auto rows = static_cast<std::int64_t>(parts.size()) * shape[0];
  return client::reshape(client::concat(parts, 0, site), {rows, shape[1]}, site);
}

}  // namespace

bool SharedFactors::is_small_product(const client::TapeNode& node) {
  if (node.is_leaf || !std::holds_alternative<ir::MatMul>(node.op)) return false;
  const Value &a = node.operands[0], &b = node.operands[1];
  return b.is_tracked() && a.rank() == 2 && a.dim(0) <= kMostRows;
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
  const Value a = below_each_other(std::move(as), site), g = below_each_other(std::move(gs), site);
  return client::matmul(client::swap_dims(a, 0, 1, site), g, site);
}

}  // namespace burn::autodiff
