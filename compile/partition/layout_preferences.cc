#include "compile/partition/layout_preferences.h"

#include <utility>

namespace burn::compile::partition {

bool is_by_element(const ir::Op& op) {
  return std::holds_alternative<ir::Pointwise>(op) || std::holds_alternative<ir::Cast>(op) ||
         std::holds_alternative<ir::Place>(op);
}

LayoutPreferences::LayoutPreferences(const ir::Program& program, const Facts& facts, std::vector<Layout> inputs,
                                     int members)
    : program_(program), facts_(facts), inputs_(std::move(inputs)), members_(members), hints_(program.values.size()) {
  find_hints();
}

std::optional<Layout> LayoutPreferences::fixed(std::size_t value) const {
  const auto state_input = facts_.state_input[value];
  const auto* input = state_input >= 0 ? &inputs_[static_cast<std::size_t>(state_input)] : nullptr;
  const auto axis = facts_.placed[value];
  if (axis < 0)
    return input ? std::optional{*input} : state_input == Facts::kNew ? std::optional{Layout{}} : std::nullopt;
  if (input && input->dim == axis) return *input;
  return Layout::split(axis, bounds_for(program_.values[value].type.shape[axis]));
}

void LayoutPreferences::find_hints() {
  for (std::size_t n = program_.nodes.size(); n-- > 0;) {
    const auto& node = program_.nodes[n];
    if (!is_by_element(node.op)) continue;
    auto& hint = hints_[node.first_value];
    if (auto own = fixed(node.first_value)) hint = std::move(own);
    if (!hint || hint->is_whole()) continue;
    for (const auto ref : program_.operands_of(node)) {
      if (ref.is_input() || program_.type_of(ref).shape != program_.type_of(node).shape) continue;
      if (auto& of_operand = hints_[static_cast<std::size_t>(ref.index())]; !of_operand) of_operand = hint;
    }
  }
}

Bounds LayoutPreferences::bounds_for(std::int64_t size) const {
  for (const auto& input : inputs_) {
    if (!input.is_whole() && input.bounds.back() == size) return input.bounds;
  }
  return balanced(size, members_);
}

}  // namespace burn::compile::partition
