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

std::optional<ir::Program> read_narrow(const ir::Program& program) {
  std::optional<ir::Program> narrow;
  for (const auto& node : program.nodes) {
    if (!adds_up(node)) continue;
    const auto operand = program.operands_of(node)[0];
    if (operand.is_input()) continue;
    const auto& maker = program.maker_of(operand);
    if (!std::holds_alternative<ir::Cast>(maker.op) || program.type_of(operand).dtype != ir::DType::i64) continue;
    const auto source = program.operands_of(maker)[0];
    if (!is_narrow(program.type_of(source).dtype)) continue;
    if (!narrow) narrow = program;
    narrow->operands[node.operand_begin] = source;
  }
  return narrow ? std::optional(simplify(*narrow, false)) : std::nullopt;
}

}  // namespace burn::compile
