// Factors of ops that combine or order elements along axes, and of the matrix product.
#include "ir/factors.h"

namespace burn::ir::factor_rules {
namespace {

FactorKind kind_of(ReduceFn fn) {
  switch (fn) {
    case ReduceFn::sum:
      return FactorKind::sum;
    case ReduceFn::prod:
      return FactorKind::prod;
    case ReduceFn::max:
      return FactorKind::max;
    case ReduceFn::min:
      return FactorKind::min;
  }
  return FactorKind::whole;
}

}  // namespace

Factors factors(const Reduce& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const auto& shape = operands[0]->shape;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const bool is_reduced = op.axes.contains(dim);
    const auto factor = factors.add(shape[dim], is_reduced ? kind_of(op.fn) : FactorKind::map);
    factors.put_operand(factor, 0, dim);
    if (!is_reduced) factors.put_result(factor, 0, dim);
  }
  if (op.fn == ReduceFn::sum) factors.linear = {linear_in({0})};
  return factors;
}
std::string_view text(const Reduce&) { return "axes are fn, other dims map"; }

Factors factors(const ArgReduce& op, Types operands, Types results) { return along(op.axis, operands, results); }
std::string_view text(const ArgReduce&) { return "axis is whole, other dims map"; }

Factors factors(const Scan& op, Types operands, Types results) {
  auto factors = along(op.axis, operands, results);
  if (op.fn == ReduceFn::sum) factors.linear = {linear_in({0})};
  return factors;
}
std::string_view text(const Scan&) { return "axis is whole, other dims map"; }

Factors factors(const Sort& op, Types operands, Types results) { return along(op.axis, operands, results); }
std::string_view text(const Sort&) { return "axis is whole, other dims map"; }

Factors factors(const TopK& op, Types operands, Types results) { return along(op.axis, operands, results); }
std::string_view text(const TopK&) { return "axis is whole, other dims map"; }

std::string_view text(const MatMul&) { return "... m k, ... k n -> ... m n"; }
Factors factors(const MatMul& op, Types operands, Types results) {
  return read(text(op), operands, results, {linear_in({0}), linear_in({1})});
}

}  // namespace burn::ir::factor_rules
