#include "compile/rewrite/constants.h"

#include <algorithm>
#include <optional>

namespace burn::compile {
namespace {

template <typename T>
std::optional<double> value(ir::PointwiseFn fn, T a, T b) {
  switch (fn) {
    case ir::PointwiseFn::neg:
      return -a;
    case ir::PointwiseFn::add:
      return a + b;
    case ir::PointwiseFn::sub:
      return a - b;
    case ir::PointwiseFn::mul:
      return a * b;
    case ir::PointwiseFn::div:
      return a / b;
    default:
      return std::nullopt;
  }
}

bool is_view(const ir::Op& op) {
  return std::holds_alternative<ir::Expand>(op) || std::holds_alternative<ir::Reshape>(op) ||
         std::holds_alternative<ir::Permute>(op) || std::holds_alternative<ir::Place>(op);
}

}  // namespace

FoldedNumbers::FoldedNumbers(const ir::Program& program) {
  constexpr std::int32_t kNone = -1;
  const auto is_number = [](const ir::Node& node) { return std::holds_alternative<ir::Constant>(node.op); };
  if (std::ranges::none_of(program.nodes, is_number)) return;
  std::vector<bool> is_output(program.values.size());
  for (const auto ref : program.outputs) {
    if (!ref.is_input()) is_output[static_cast<std::size_t>(ref.index())] = true;
  }
  std::vector<std::int32_t> number_of(program.values.size(), kNone);  // in numbers_
  const auto number = [&](ir::Ref ref) {
    return ref.is_input() ? kNone : number_of[static_cast<std::size_t>(ref.index())];
  };
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const auto& node = program.nodes[n];
    const auto operands = program.operands_of(node);
    if (const auto* constant = std::get_if<ir::Constant>(&node.op)) {
      number_of[node.first_value] = static_cast<std::int32_t>(numbers_.size());
      numbers_.push_back(*constant);
    } else if (is_view(node.op)) {
      number_of[node.first_value] = number(operands[0]);
    } else if (const auto* function = std::get_if<ir::Pointwise>(&node.op)) {
      const auto dtype = program.type_of(node).dtype;
      const bool is_known = (dtype == ir::DType::f32 || dtype == ir::DType::f64) && !is_output[node.first_value] &&
                            operands.size() <= 2 &&
                            std::ranges::all_of(operands, [&](ir::Ref ref) { return number(ref) != kNone; });
      if (!is_known) continue;
      const auto real = [&](std::size_t k) { return numbers_[static_cast<std::size_t>(number(operands[k]))].real; };
      const auto a = real(0), b = operands.size() > 1 ? real(1) : 0;
      const auto result = dtype == ir::DType::f64
                              ? value<double>(function->fn, a, b)
                              : value<float>(function->fn, static_cast<float>(a), static_cast<float>(b));
      if (!result) continue;
      if (folded_.empty()) folded_.assign(program.nodes.size(), kNone);
      folded_[n] = number_of[node.first_value] = static_cast<std::int32_t>(numbers_.size());
      ir::Constant made = numbers_[static_cast<std::size_t>(number(operands[0]))];
      made.dtype = dtype;
      made.real = *result;
      numbers_.push_back(made);
    }
  }
}

}  // namespace burn::compile
