#include "compile/codegen/kernels/row_elements.h"

#include <algorithm>
#include <utility>

namespace burn::compile::kernels {
namespace {

using kernel::Value;

std::size_t index(int number) { return static_cast<std::size_t>(number); }

}  // namespace

RowElements::RowElements(const GroupPlan& plan, const RowLayout& layout, const RowsOnThreads& shape,
                         GroupValues& values)
    : plan_(plan), layout_(layout), walk_(layout.inner()), shape_(shape), values_(values) {}

void RowElements::begin(const Row& row, Offsets offsets) {
  row_ = row;
  base_ = std::move(offsets);
}

bool RowElements::is_of_row(std::size_t k) const {
  const auto& read = plan_.reads()[k];
  return read.kind == GroupOperand::Kind::full &&
         std::ranges::all_of(walk_.strides[index(read.full_index)], [](std::int64_t stride) { return stride == 0; });
}

std::vector<Value> RowElements::read(std::size_t k, Value offset, int width) {
  const bool repeats = walk_.strides[index(plan_.reads()[k].full_index)].back() == 0;
  if (!repeats) return values_.read(k, offset, width);
  return std::vector<Value>(static_cast<std::size_t>(width), values_.read(k, offset));
}

Offsets RowElements::offsets_at(Value c) {
  auto offsets = values_.offsets_in(walk_, c);
  for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = base_[k] + offsets[k];
  return offsets;
}

Value RowElements::begin_of(int i) {
  const Value c = (row_.lane + i * shape_.lanes) * shape_.width;
  return shape_.is_whole ? c : select(c < row_.size, c, 0);
}

void RowElements::hold() {
  if (shape_.vectors == 0) return;
  for (int i = 0; i < shape_.vectors; ++i) {
    const auto offsets = offsets_at(begin_of(i));
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      if (!layout_.is_held(k)) continue;
      const auto elements = read(k, offsets[index(plan_.reads()[k].full_index)], shape_.width);
      auto& held = held_[k];
      held.insert(held.end(), elements.begin(), elements.end());
    }
  }
}

std::vector<KnownValues> RowElements::at(const PassNeeds& needs, Value c, int width, int vector,
                                         const KnownValues& of_row) {
  std::vector<KnownValues> known(static_cast<std::size_t>(width), of_row);
  offsets_ = offsets_at(c);
  for (const auto k : needs.reads) {
    if (is_of_row(k)) continue;
    const auto held = vector < 0 ? held_.end() : held_.find(k);
    const auto values = held == held_.end()
                            ? read(k, offsets_[index(plan_.reads()[k].full_index)], width)
                            : std::vector<Value>(held->second.begin() + std::ptrdiff_t{vector} * width,
                                                 held->second.begin() + std::ptrdiff_t{vector + 1} * width);
    for (std::size_t j = 0; j < known.size(); ++j) known[j].reads[k] = values[j];
  }
  auto* const before = vector < 0 ? nullptr : &computed_[vector];
  if (before) before->resize(known.size(), of_row);
  for (std::size_t j = 0; j < known.size(); ++j) {
    const Value position = row_.row * row_.size + (j == 0 ? c : c + static_cast<std::int64_t>(j));
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::full || !needs.members.contains(member.node)) continue;
      const auto m = values_.member_index(member);
      const bool is_known = before && (*before)[j].members[m].id >= 0;
      known[j].members[m] = is_known ? (*before)[j].members[m] : values_.compute(member, position, known[j]);
      if (before) (*before)[j].members[m] = known[j].members[m];
    }
  }
  return known;
}

}  // namespace burn::compile::kernels
