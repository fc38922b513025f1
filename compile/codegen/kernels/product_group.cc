#include "compile/codegen/kernels/product_group.h"

#include <algorithm>

#include "compile/codegen/accuracy.h"

namespace burn::compile::kernels {

using kernel::Value;

namespace {

constexpr int kWidest = 8;  // elements of one access

}  // namespace

ProductGroup::ProductGroup(kernel::Writer& writer, Arguments& arguments, const GroupPlan& plan)
    : plan_(plan),
      walk_(plan.element_walk()),
      width_(static_cast<std::size_t>(vector_width(walk_, plan.full_views(), kWidest))),
      values_(writer, arguments, plan, coarse_elements(plan)),
      scalars_(values_.scalars()) {}

ir::DType ProductGroup::index(const GroupPlan& plan, std::int64_t most) {
  return plan.element_walk().is_narrow() ? index_type(most) : ir::DType::i64;
}

void ProductGroup::store(Value position, std::span<const Value> elements) {
  const auto width = std::min(width_, elements.size());
  for (std::size_t k = 0; k < elements.size(); k += width)
    store_vector(k == 0 ? position : position + static_cast<std::int64_t>(k), elements.subspan(k, width));
}

void ProductGroup::store_vector(Value position, std::span<const Value> elements) {
  const auto offsets = walk_.is_linear() ? Offsets(static_cast<std::size_t>(plan_.full_count()), position)
                                         : values_.offsets_in(walk_, position);
  std::vector<KnownValues> known(elements.size(), scalars_);
  for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
    const auto& read = plan_.reads()[k];
    if (read.kind == GroupOperand::Kind::computed) {
      for (std::size_t j = 0; j < known.size(); ++j) known[j].reads[k] = elements[j];
    } else if (read.kind == GroupOperand::Kind::full) {
      const auto full = static_cast<std::size_t>(read.full_index);
      const bool repeats = walk_.strides[full].back() == 0;
      const auto values = values_.read(k, offsets[full], repeats ? 1 : static_cast<int>(known.size()));
      for (std::size_t j = 0; j < known.size(); ++j) known[j].reads[k] = values[repeats ? 0 : j];
    }
  }
  for (std::size_t j = 0; j < known.size(); ++j) {
    const Value at = j == 0 ? position : position + static_cast<std::int64_t>(j);
    for (const auto& member : plan_.group().members)
      known[j].members[values_.member_index(member)] = values_.compute(member, at, known[j]);
  }
  for (std::size_t k = 0; k < plan_.writes().size(); ++k)
    values_.write(k, offsets[static_cast<std::size_t>(plan_.writes()[k].full_index)], known);
}

}  // namespace burn::compile::kernels
