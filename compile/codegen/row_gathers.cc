#include "compile/codegen/row_gathers.h"

#include <fmt/format.h>

#include "compile/codegen/accuracy.h"
#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/row_passes.h"

namespace burn::compile {

std::string RowGathers::checked_index(const Member& member) {
  const auto operands = plan_.program().operands_of(plan_.node(member));
  const auto v = printer_.name(plan_.value_of(member));
  const auto report = printer_.parameter("std::int64_t*", "report_" + v,
                                         Argument(emit_.report_index(plan_.group().row_size, member.node)));
  return fmt::format(
      "  const std::int64_t index_{0} = {1};\n"
      "  const bool inside_{0} = {2};\n"
      "  const int place_{0} = inside_{0} ? static_cast<int>(index_{0}) : -1;\n",
      v, cuda_cpp::cast("std::int64_t", printer_.name(operands[1])),
      cuda_cpp::check_index("index_" + v, "row_size", report));
}

std::string RowGathers::from_memory(const Member& member) {
  const auto operands = plan_.program().operands_of(plan_.node(member));
  const auto* read = plan_.read(operands[0]);
  const auto v = printer_.name(plan_.value_of(member));
  auto text = checked_index(member);
  if (read->counts) {
    auto element = counted_read(
        printer_, static_cast<std::size_t>(read - plan_.reads().data()),
        fmt::format("i{} + {}", read - plan_.reads().data(),
                    layout_.element_offset(read->full_index, fmt::format("(inside_{0} ? index_{0} : 0)", v))),
        "0");
    return text + fmt::format("  const {0} {1} = [&] {{ {2} return {3}; }}();\n", compute_type(dtype(operands[0])), v,
                              element, printer_.name(operands[0]));
  }
  if (read->kind != GroupOperand::Kind::full)
    return text + fmt::format("  const {} {} = {};\n", compute_type(dtype(operands[0])), v, printer_.name(operands[0]));
  const auto type = storage_type(dtype(operands[0]));
  const auto element = fmt::format("inside_{} ? p{}[{}] : {}{{}}", v, read - plan_.reads().data(),
                                   layout_.element_offset(read->full_index, "index_" + v), type);
  return text +
         fmt::format("  const {} {} = {};\n", compute_type(dtype(operands[0])), v, cuda_cpp::to_compute(type, element));
}

std::string RowGathers::computed_again(const Member& member) {
  const auto operand = plan_.program().operands_of(plan_.node(member))[0];
  const auto v = printer_.name(plan_.value_of(member));
  const auto type = compute_type(dtype(operand));
  const ir::Ref seen[] = {operand};
  const auto needs = needs_of(plan_, operand);
  const auto coarse = coarse_members(plan_, needs.members, seen);
  std::string element;
  for (const auto k : needs.reads) {
    const auto& read = plan_.reads()[k];
    if (layout_.is_of_row(k)) continue;
    const auto at = layout_.element_offset(read.full_index, "c");
    element += read.counts ? counted_read(printer_, k, fmt::format("i{} + {}", k, at), "0")
                           : stored_read(printer_, k, fmt::format("p{}[{}]", k, at));
  }
  element += element_statements(printer_, needs.members, "(static_cast<std::uint64_t>(row) * row_size + c)", coarse);
  return checked_index(member) + fmt::format(
                                     "  const {0} {1} = [&]() -> {0} {{\n  if (!inside_{1}) return {0}{{}};\n"
                                     "  const int c = place_{1};\n{2}  return {3};\n  }}();\n",
                                     type, v, element, printer_.name(operand));
}

}  // namespace burn::compile
