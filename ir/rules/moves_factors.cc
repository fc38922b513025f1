// Factors of ops that move elements without computing.
#include <numeric>

#include "ir/factors.h"

namespace burn::ir::factor_rules {
namespace {

bool is_taken_in_full(std::int64_t dim, std::int64_t start, std::int64_t size, std::int64_t step) {
  return start == 0 && size == dim && (step == 1 || size <= 1);
}

// Adds a whole factor for the rest of a dim, inside the factors found in it.
void add_rest_of_operand(Factors& factors, std::int64_t size, int dim) {
  if (size != 1) factors.put_operand(factors.add(size, FactorKind::whole), 0, dim);
}
void add_rest_of_result(Factors& factors, std::int64_t size, int dim) {
  if (size != 1) factors.put_result(factors.add(size, FactorKind::whole), 0, dim);
}

}  // namespace

// Walks both shapes from the left. The greatest common divisor of what is left of the current dims is a factor; the
// walk ends where two dims have none. After that, only equal dims at the end are factors.
Factors factors(const Reshape& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const Shape &from = operands[0]->shape, &to = op.shape;
  int i = 0, j = 0, i_end = from.rank(), j_end = to.rank();
  std::int64_t left = i < i_end ? from[i] : 1, right = j < j_end ? to[j] : 1;  // what is left of dims i and j
  while (i < i_end && j < j_end) {
    const bool are_equal = left == right;
    if (left == 0 && !are_equal) break;
    if (right == 0 && !are_equal) break;
    const auto common = are_equal ? left : std::gcd(left, right);
    if (common == 1 && left != 1 && right != 1) break;
    if (common != 1 || are_equal) {
      const auto factor = factors.add(common, FactorKind::map);
      factors.put_operand(factor, 0, i);
      factors.put_result(factor, 0, j);
    }
    if (common != 0) left /= common, right /= common;
    const bool ends_left = are_equal || left == 1, ends_right = are_equal || right == 1;
    if (ends_left && ++i < i_end) left = from[i];
    if (ends_right && ++j < j_end) right = to[j];
  }
  // Dims i and j, if they exist, are partly consumed or have no common divisor; the dims after them are untouched.
  while (i_end - 1 > i && j_end - 1 > j && from[i_end - 1] == to[j_end - 1]) {
    --i_end, --j_end;
    const auto factor = factors.add(from[i_end], FactorKind::map);
    factors.put_operand(factor, 0, i_end);
    factors.put_result(factor, 0, j_end);
  }
  for (int dim = i; dim < i_end; ++dim) add_rest_of_operand(factors, dim == i ? left : from[dim], dim);
  for (int dim = j; dim < j_end; ++dim) add_rest_of_result(factors, dim == j ? right : to[dim], dim);
  factors.linear = {moves(1)};
  return factors;
}
std::string_view text(const Reshape&) { return "what dims have in common, from the left, is map"; }

Factors factors(const Permute& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  for (int dim = 0; dim < op.axes.rank(); ++dim) {
    const auto factor = factors.add(results[0]->shape[dim], FactorKind::map);
    factors.put_operand(factor, 0, static_cast<int>(op.axes[dim]));
    factors.put_result(factor, 0, dim);
  }
  factors.linear = {moves(1)};
  return factors;
}
std::string_view text(const Permute&) { return "dims are map"; }

Factors factors(const Place&, Types operands, Types results) {
  auto factors = read("... -> ...", operands, results);
  factors.linear = {moves(1)};
  return factors;
}
std::string_view text(const Place&) { return "... -> ..."; }

Factors factors(const Expand& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const auto& from = operands[0]->shape;
  const int added = op.shape.rank() - from.rank();
  for (int dim = 0; dim < op.shape.rank(); ++dim) {
    const auto factor = factors.add(op.shape[dim], FactorKind::map);
    if (dim >= added && from[dim - added] == op.shape[dim]) factors.put_operand(factor, 0, dim - added);
    factors.put_result(factor, 0, dim);
  }
  factors.linear = {moves(1)};
  return factors;
}
std::string_view text(const Expand&) { return "dims are map, repeated and new ones in the result alone"; }

Factors factors(const Slice& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  for (int dim = 0; dim < op.sizes.rank(); ++dim) {
    const auto size = operands[0]->shape[dim];
    const bool is_full = is_taken_in_full(size, op.starts[dim], op.sizes[dim], op.steps[dim]);
    const auto factor = factors.add(size, is_full ? FactorKind::map : FactorKind::whole);
    factors.put_operand(factor, 0, dim);
    factors.put_result(is_full ? factor : factors.add(op.sizes[dim], FactorKind::whole), 0, dim);
  }
  factors.linear = {moves(1)};
  return factors;
}
std::string_view text(const Slice&) { return "a dim that is taken in full is map, others are whole"; }

Factors factors(const SliceAssign& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const auto &shape = operands[0]->shape, &sizes = operands[1]->shape;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const bool is_full = is_taken_in_full(shape[dim], op.starts[dim], sizes[dim], op.steps[dim]);
    const auto factor = factors.add(shape[dim], is_full ? FactorKind::map : FactorKind::whole);
    factors.put_operand(factor, 0, dim);
    factors.put_result(factor, 0, dim);
    factors.put_operand(is_full ? factor : factors.add(sizes[dim], FactorKind::whole), 1, dim);
  }
  factors.linear = {moves(3)};
  return factors;
}
std::string_view text(const SliceAssign&) { return "a dim that is written in full is map, others are whole"; }

Factors factors(const Concat& op, Types operands, Types results) {
  return along(op.axis, operands, results, {moves(LinearOperands::kEveryOperand)});
}
std::string_view text(const Concat&) { return "axis is whole, other dims map"; }

Factors factors(const Gather& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const auto &table = operands[0]->shape, &index = operands[1]->shape;
  for (int dim = 0; dim < table.rank(); ++dim) {
    const auto factor = factors.add(index[dim], FactorKind::map);
    factors.put_operand(factor, 1, dim);
    factors.put_result(factor, 0, dim);
    factors.put_operand(dim == op.axis ? factors.add(table[dim], FactorKind::whole) : factor, 0, dim);
  }
  factors.linear = {moves(1)};
  return factors;
}
std::string_view text(const Gather&) { return "axis of the first operand is whole, the index's and other dims map"; }

// Splitting the index changes the order of additions and so the rounding, as for any sum.
Factors factors(const Scatter& op, Types operands, Types results) {
  Factors factors(operands.size(), results.size());
  const auto &table = operands[0]->shape, &index = operands[1]->shape;
  const bool adds = op.fn == ScatterFn::add;
  for (int dim = 0; dim < table.rank(); ++dim) {
    if (dim != op.axis) {
      const auto factor = factors.add(table[dim], FactorKind::map);
      for (std::size_t i = 0; i < 3; ++i) factors.put_operand(factor, i, dim);
      factors.put_result(factor, 0, dim);
      continue;
    }
    const auto rows = factors.add(table[dim], FactorKind::whole);
    factors.put_operand(rows, 0, dim);
    factors.put_result(rows, 0, dim);
    const auto factor = factors.add(index[dim], adds ? FactorKind::sum : FactorKind::whole);
    factors.put_operand(factor, 1, dim);
    factors.put_operand(factor, 2, dim);
  }
  if (adds) {
    factors.linear = {linear_in({0, 2})};
    factors.added = 1;
  }
  return factors;
}
std::string_view text(const Scatter&) {
  return "axis of the first operand is whole, the index's sum for add and else whole, other dims map";
}

}  // namespace burn::ir::factor_rules
