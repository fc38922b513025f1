#include "compile/codegen/row_columns.h"

#include <algorithm>

#include <fmt/format.h>

#include "compile/codegen/column_sums.h"
#include "compile/codegen/dialects/cuda_cpp.h"

namespace burn::compile {

RowColumns::RowColumns(const GroupPlan& plan, const RowLayout& layout) : plan_(plan), layout_(layout) {
  for (const auto& member : plan.group().members) {
    if (member.level == Level::column) columns_.push_back(&member);
  }
}

std::size_t RowColumns::bytes_kept() const {
  const auto& shape = layout_.shape();
  const auto elements = static_cast<std::size_t>(shape.vectors) * static_cast<std::size_t>(shape.width);
  std::size_t bytes = 0;
  for (const auto* column : columns_) bytes += elements * ir::size_of(dtype(*column));
  return bytes;
}

void RowColumns::declare_parts(Emitter& emit, GroupPrinter& printer, std::int64_t lines) {
  for (const auto* column : columns_) {
    parts_.push_back(emit.scratch_value({dtype(*column), {lines, plan_.group().row_size}}));
    printer.parameter(fmt::format("{}*", compute_type(dtype(*column))), "part_" + printer.name(plan_.value_of(*column)),
                      Argument(parts_.back()));
  }
}

std::string RowColumns::at_zero(const GroupPrinter& printer) const {
  std::string text;
  for (const auto* column : columns_)
    text += fmt::format("  {} column_{}[{}] = {{}};\n",
                        cuda_cpp::pack_type(compute_type(dtype(*column)), layout_.shape().width),
                        printer.name(plan_.value_of(*column)), layout_.shape().vectors);
  return text;
}

std::string RowColumns::additions(const GroupPrinter& printer, int stage, std::vector<ir::Ref>& seen) const {
  std::string text;
  for (const auto* column : columns_) {
    if (plan_.stage_of(plan_.value_of(*column)) != stage) continue;
    const auto summed = plan_.program().operands_of(plan_.node(*column))[0];
    seen.push_back(summed);
    text += fmt::format("column_{}[i].lanes[j] += {};\n", printer.name(plan_.value_of(*column)), printer.name(summed));
  }
  return text;
}

std::string RowColumns::stores(const GroupPrinter& printer) const {
  std::string text;
  for (const auto* column : columns_) {
    const auto name = printer.name(plan_.value_of(*column));
    text += cuda_cpp::store_pack(compute_type(dtype(*column)), layout_.shape().width, "part_" + name,
                                 "std::int64_t{first_row} * row_size + c", fmt::format("column_{}[i]", name));
  }
  return layout_.each_vector(text);
}

void RowColumns::sum_parts(Emitter& emit) const {
  std::vector<View> sums;
  sums.reserve(columns_.size());
  for (const auto* column : columns_)
    sums.push_back(std::ranges::find(plan_.writes(), plan_.value_of(*column), &GroupOperand::ref)->view);
  sum_lines(emit, parts_, sums);
}

}  // namespace burn::compile
