#include "compile/partition/facts.h"

namespace burn::compile::partition {

Facts::Facts(const ir::Program& program, std::optional<ir::MeshAxis> axis)
    : is_zero(program.values.size()),
      tells_commit(program.values.size()),
      state_input(program.values.size(), kNone),
      placed(program.values.size(), -1),
      read_with(program.values.size()) {
  const auto of = [](const std::vector<bool>& facts, ir::Ref ref) {
    return !ref.is_input() && facts[static_cast<std::size_t>(ref.index())];
  };
  for (const auto& node : program.nodes) {
    const auto operands = program.operands_of(node);
    const auto v = node.first_value;
    if (const auto* number = std::get_if<ir::Constant>(&node.op)) {
      is_zero[v] = number->number == 0 && number->real == 0;
    } else if (std::holds_alternative<ir::Commit>(node.op)) {
      tells_commit[v] = true;
    } else if (is_expand(node.op) || std::holds_alternative<ir::Reshape>(node.op)) {
      is_zero[v] = of(is_zero, operands[0]);
      tells_commit[v] = of(tells_commit, operands[0]);
    } else if (const auto* place = std::get_if<ir::Place>(&node.op)) {
      const bool counts = !axis || place->mesh == *axis;
      if (counts) placed[v] = static_cast<std::int32_t>(place->axis);
      if (operands[0].is_input()) continue;
      const auto placing = static_cast<std::size_t>(operands[0].index());
      state_input[v] = state_input[placing];
      if (!counts) placed[v] = placed[placing];
      if (state_input[v] != kNone) placed[placing] = placed[v];
    } else if (const auto* function = std::get_if<ir::Pointwise>(&node.op)) {
      note_read_with(program, operands);
      if (function->fn == ir::PointwiseFn::bool_and)
        tells_commit[v] = of(tells_commit, operands[0]) || of(tells_commit, operands[1]);
      if (function->fn == ir::PointwiseFn::select && of(tells_commit, operands[0])) {
        const auto old = operands[2];
        const auto before = static_cast<std::size_t>(old.index());
        state_input[v] = old.is_input() ? old.index() : state_input[before] != kNone ? state_input[before] : kNew;
        if (!old.is_input()) placed[v] = placed[before];
        if (state_input[v] >= 0 &&
            program.inputs[static_cast<std::size_t>(state_input[v])].type != program.values[v].type)
          state_input[v] = kNone;
      }
    }
  }
}

void Facts::note_read_with(const ir::Program& program, std::span<const ir::Ref> operands) {
  for (const auto ref : operands) {
    for (const auto other : operands) {
      if (ref.is_input() || other == ref || program.type_of(other).shape != program.type_of(ref).shape) continue;
      auto& of_value = read_with[static_cast<std::size_t>(ref.index())];
      if (!of_value) of_value = other;
    }
  }
}

}  // namespace burn::compile::partition
