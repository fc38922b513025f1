#include "compile/rewrite/narrow_sums.h"

#include "compile/rewrite/simplify.h"

namespace burn::compile {
namespace {

bool adds_up(const ir::Node& node) {
  const auto* reduce = std::get_if<ir::Reduce>(&node.op);
  return reduce && (reduce->fn == ir::ReduceFn::sum || reduce->fn == ir::ReduceFn::prod);
}

bool is_narrow(ir::DType dtype) { return ir::is_bool(dtype) || (ir::is_integer(dtype) && ir::size_of(dtype) < 8); }

}  // namespace

ir::Program read_narrow(ir::Program program) {
  bool found = false;
  for (const auto& node : program.nodes) {
    if (!adds_up(node)) continue;
    auto& operand = program.operands[node.operand_begin];
    if (operand.is_input()) continue;
    const auto& maker = program.maker_of(operand);
    if (!std::holds_alternative<ir::Cast>(maker.op) || program.type_of(operand).dtype != ir::DType::i64) continue;
    const auto source = program.operands_of(maker)[0];
    if (!is_narrow(program.type_of(source).dtype)) continue;
    operand = source;
    found = true;
  }
  return found ? simplify(program, false) : std::move(program);
}

}  // namespace burn::compile
