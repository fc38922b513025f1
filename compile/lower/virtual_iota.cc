#include "compile/lower/virtual_iota.h"

#include <algorithm>

namespace burn::compile {

CountedIotas find_counted(const ir::Program& program, const Plan& plan, const std::vector<ValueView>& views) {
  constexpr std::int64_t kMostOfF32 = 1 << 24;  // all whole numbers below are numbers of f32
  CountedIotas found{std::vector<bool>(program.values.size()), std::vector<bool>(program.values.size())};
  for (const auto& made : program.nodes) {
    const auto* iota = std::get_if<ir::Iota>(&made.op);
    const bool fits = iota && (iota->dtype == ir::DType::i64 || iota->dtype == ir::DType::i32 ||
                               (iota->dtype == ir::DType::f32 && iota->size <= kMostOfF32));
    if (fits && iota->size > 0) found.counted[made.first_value] = true;
  }
  const auto is_read = [&](ir::Ref ref) {  // from memory
    if (ref.is_input()) return;
    const auto base = views[static_cast<std::size_t>(ref.index())].base;
    if (!base.is_input()) found.stored[static_cast<std::size_t>(base.index())] = true;
  };
  for (const auto& reader : program.nodes) {
    const auto made = ir::Ref::value(static_cast<std::int32_t>(reader.first_value));
    const bool is_view = reader.value_count > 0 && views[static_cast<std::size_t>(made.index())].base != made;
    const bool is_formula =
        std::holds_alternative<ir::Pointwise>(reader.op) || std::holds_alternative<ir::Cast>(reader.op);
    if (!is_view && !is_formula) std::ranges::for_each(program.operands_of(reader), is_read);
  }
  for (const auto& group : plan.groups) {  // numbers of rows
    for (const auto& member : group.members) {
      if (member.level != Level::full)
        std::ranges::for_each(program.operands_of(program.nodes[static_cast<std::size_t>(member.node)]), is_read);
    }
  }
  std::ranges::for_each(program.outputs, is_read);
  for (const auto& product : plan.products) {
    if (product.kind == ProductWithEpilogue::Kind::bias) is_read(product.other);
  }
  return found;
}

}  // namespace burn::compile
