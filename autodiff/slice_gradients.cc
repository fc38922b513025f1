#include "autodiff/slice_gradients.h"

#include <algorithm>

namespace burn::autodiff {

using client::Value;

void SliceGradients::add(std::uint32_t result, const ir::Shape& shape, const ir::Slice& op, Value g,
                         const ir::CallSite& site) {
  auto& cut = by_result_[result];
  cut.shape = shape;
  cut.pieces.push_back({op, std::move(g), site});
}

Value SliceGradients::take(std::uint32_t result) {
  if (by_result_.empty()) return {};
  const auto found = by_result_.find(result);
  if (found == by_result_.end()) return {};
  const auto cut = std::move(found->second);
  by_result_.erase(found);
  if (cut.pieces.size() > 1) {
    if (auto whole = side_by_side(cut); whole.has_value()) return whole;
  }
  return added_up(cut);
}

// Concatenates the pieces. Empty if they overlap, or are cut along several axes.
Value SliceGradients::side_by_side(const Cut& cut) {
  const auto& [shape, pieces] = cut;
  int axis = -1;
  for (const auto& piece : pieces) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (piece.g.dim(i) == shape[i] || i == axis) continue;
      if (axis >= 0) return {};
      axis = i;
    }
  }
  if (axis < 0) return {};
  std::vector<const Piece*> sorted;
  sorted.reserve(pieces.size());
  for (const auto& piece : pieces) sorted.push_back(&piece);
  std::ranges::sort(sorted, {}, [&](const Piece* piece) { return piece->op.starts[axis]; });

  const auto& site = pieces.front().site;
  std::vector<Value> parts;
  std::int64_t end = 0;
  const auto zeros_until = [&](std::int64_t start) {
    if (start == end) return;
    ir::Shape gap = shape;
    gap[axis] = start - end;
    const Value& like = pieces.front().g;
    parts.push_back(client::filled(client::place_of(like), gap, 0, like.dtype(), site));
  };
  for (const Piece* piece : sorted) {
    const auto start = piece->op.starts[axis];
    if (start < end) return {};
    zeros_until(start);
    parts.push_back(piece->g);
    end = start + piece->g.dim(axis);
  }
  zeros_until(shape[axis]);
  return client::concat(parts, axis, site);
}

Value SliceGradients::added_up(const Cut& cut) {
  Value sum;
  for (const auto& [op, g, site] : cut.pieces) {
    const Value zeros = client::filled(client::place_of(g), cut.shape, 0, g.dtype(), site);
    Value whole = client::apply(ir::SliceAssign{op.starts, op.steps}, zeros, g, site);
    sum = sum.has_value() ? client::pointwise(ir::PointwiseFn::add, sum, whole, site) : std::move(whole);
  }
  return sum;
}

}  // namespace burn::autodiff
