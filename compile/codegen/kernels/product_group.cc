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
  const auto offsets = values_.offsets_at(walk_, position);
  std::vector<KnownValues> known(elements.size(), scalars_);
  for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
    if (plan_.reads()[k].kind != GroupOperand::Kind::computed) continue;
    for (std::size_t j = 0; j < known.size(); ++j) known[j].reads[k] = elements[j];
  }
  values_.read_elements(walk_, offsets, known);
  values_.compute_elements(position, known);
  values_.write_elements(offsets, known);
}

}  // namespace burn::compile::kernels
