#include "tests/reference/interpreter.h"

namespace burn::reference {

std::vector<Tensor> evaluate(const ir::Op& op, const ir::TensorType& type, Operands in, const Bindings& bindings) {
  return std::visit(
      [&](const auto& kind) {
        auto results = rules::evaluate(kind, type, in, bindings);
        if constexpr (ir::result_count<std::remove_cvref_t<decltype(kind)>>() == 1) {
          std::vector<Tensor> one;
          one.push_back(std::move(results));
          return one;
        } else {
          return results;
        }
      },
      op);
}

std::vector<Tensor> evaluate(const ir::Program& program, std::span<const Tensor> inputs, const Bindings& bindings) {
  std::vector<Tensor> values;
  values.reserve(program.values.size());
  const auto value = [&](ir::Ref ref) -> const Tensor& {
    return ref.is_input() ? inputs[static_cast<std::size_t>(ref.index())]
                          : values[static_cast<std::size_t>(ref.index())];
  };
  for (const auto& node : program.nodes) {
    std::vector<const Tensor*> operands;
    for (const auto ref : program.operands_of(node)) operands.push_back(&value(ref));
    for (auto& result : evaluate(node.op, program.type_of(node), operands, bindings))
      values.push_back(std::move(result));
  }
  std::vector<Tensor> outputs;
  for (const auto ref : program.outputs) outputs.push_back(value(ref));
  return outputs;
}

}  // namespace burn::reference
