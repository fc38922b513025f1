#include "tests/reference/interpreter.h"

namespace burn::reference {

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
    std::visit(
        [&](const auto& op) {
          auto results = rules::evaluate(op, program.type_of(node), operands, bindings);
          if constexpr (ir::result_count<std::remove_cvref_t<decltype(op)>>() == 1)
            values.push_back(std::move(results));
          else
            for (auto& result : results) values.push_back(std::move(result));
        },
        node.op);
  }
  std::vector<Tensor> outputs;
  for (const auto ref : program.outputs) outputs.push_back(value(ref));
  return outputs;
}

}  // namespace burn::reference
