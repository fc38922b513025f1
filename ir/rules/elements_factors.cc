// Factors of element-wise ops, and of ops without operands that generate elements.
#include "ir/factors.h"

namespace burn::ir::factor_rules {
namespace {

// One map factor for each dim of the result, in all operands except those of rank 0.
Factors by_element(Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const auto& shape = results[0]->shape;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const auto factor = factors.add(shape[dim], FactorKind::map);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i]->shape.empty()) factors.put_operand(factor, i, dim);
    }
    factors.put_result(factor, 0, dim);
  }
  return factors;
}

}  // namespace

Factors factors(const Constant&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const Constant&) { return "->"; }

Factors factors(const Scalar&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const Scalar&) { return "->"; }

Factors factors(const Iota&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const Iota&) { return "-> !"; }

Factors factors(const Random&, Types operands, Types results) { return by_element(operands, results); }
std::string_view text(const Random&) { return "-> ..."; }

Factors factors(const Pointwise& op, Types operands, Types results) {
  auto factors = by_element(operands, results);
  switch (op.fn) {
    case PointwiseFn::neg:
      factors.linear = {linear_in({0})};
      break;
    case PointwiseFn::add:
    case PointwiseFn::sub:
      factors.linear = {linear_in({0, 1})};
      break;
    case PointwiseFn::mul:
      factors.linear = {linear_in({0}), linear_in({1})};
      break;
    case PointwiseFn::div:  // integer division rounds
      if (is_floating(results[0]->dtype)) factors.linear = {linear_in({0})};
      break;
    case PointwiseFn::select:
      factors.linear = {linear_in({1, 2})};
      break;
    default:
      break;
  }
  return factors;
}
std::string_view text(const Pointwise&) { return "..., ... -> ..."; }

// A cast to a wider float commutes with sums; a cast of integers does not, as sums may have wrapped.
Factors factors(const Cast& op, Types operands, Types results) {
  auto factors = by_element(operands, results);
  const auto from = operands[0]->dtype;
  if (from == op.dtype || (is_floating(from) && is_floating(op.dtype) && size_of(op.dtype) > size_of(from)))
    factors.linear = {linear_in({0})};
  return factors;
}
std::string_view text(const Cast&) { return "... -> ..."; }

}  // namespace burn::ir::factor_rules
