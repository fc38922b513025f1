// Groups without rows: a thread computes one element.
#include "compile/codegen/group_kernel.h"
#include "compile/codegen/kernels/group.h"
#include "compile/codegen/kernels/group_values.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {

Status emit_group(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results) {
  return emit_remembered(emit, program, group, results, [](Emitter& to, const GroupPlan& plan) {
    return plan.group().has_rows() ? emit_rows(to, plan) : emit_elements(to, plan);
  });
}

Status emit_elements(Emitter& emit, const GroupPlan& plan) {
  const std::int64_t elements = ir::num_elements(plan.group().domain);
  if (elements == 0) return {};
  constexpr int kThreads = 256;
  const auto walk = plan.element_walk();
  // A folded grid has blocks beyond the end.
  GroupValues values(emit, plan, kThreads, walk.is_narrow() && elements < std::int64_t{1} << 30);
  auto& writer = values.writer();
  const auto position = to(values.index_type(), writer.block()) * kThreads + to(values.index_type(), writer.thread());
  writer.when(position < values.number(elements), [&] {
    auto known = values.scalars();
    const auto offsets = walk.is_linear() ? Offsets(static_cast<std::size_t>(plan.full_count()), position)
                                          : values.offsets_in(walk, position);
    const auto& reads = plan.reads();
    for (std::size_t k = 0; k < reads.size(); ++k) {
      if (reads[k].kind == GroupOperand::Kind::full)
        known.reads[k] = values.read(k, offsets[static_cast<std::size_t>(reads[k].full_index)]);
    }
    for (const auto& member : plan.group().members)
      known.members[values.member_index(member)] = values.compute(member, position, known);
    for (std::size_t k = 0; k < plan.writes().size(); ++k)
      values.write(k, offsets[static_cast<std::size_t>(plan.writes()[k].full_index)], known);
  });
  allow_in_place(emit, plan);
  values.launch((elements + kThreads - 1) / kThreads);
  return {};
}

}  // namespace burn::compile::kernels
