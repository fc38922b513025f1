#include "tests/reference/interpreter.h"

namespace burn::reference {

std::vector<Tensor> evaluate(const ir::Program& program, std::span<const Tensor> inputs, const Bindings& bindings) {
  std::vector<Tensor> nodes;
  nodes.reserve(program.nodes.size());
  const auto value = [&](ir::Ref ref) -> const Tensor& {
    return ref.is_input() ? inputs[static_cast<std::size_t>(ref.index())]
                          : nodes[static_cast<std::size_t>(ref.index())];
  };
  for (const auto& node : program.nodes) {
    std::vector<const Tensor*> operands;
    for (const auto ref : program.operands_of(node)) operands.push_back(&value(ref));
    nodes.push_back(
        std::visit([&](const auto& op) { return rules::evaluate(op, node.type, operands, bindings); }, node.op));
  }
  std::vector<Tensor> outputs;
  for (const auto ref : program.outputs) outputs.push_back(value(ref));
  return outputs;
}

}  // namespace burn::reference
