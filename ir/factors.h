// How an op can be split into parts: which dims of its operands and results share an index, and how the results of
// parts are combined over an index that no result has. compile/partition/ rewrites a program for several devices by
// these rules, which are defined with the shape rules in ir/rules/. They correspond to the letters of an einsum and to
// the factors of Shardy (https://openxla.org/shardy).
//
// matmul [m, k] x [k, n] -> [m, n] has three factors: m and n, which are *map*, and k, which is *sum*. Rows m0 .. m1 of
// the result are the product of rows m0 .. m1 of the first operand and all of the second; products over parts of k add
// up to the result.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace burn::ir {

enum class FactorKind : std::uint8_t {
  map,   // every result has it: computing a part of it gives that part of the results
  sum,   // no result has it: the partial results of its parts are added
  prod,  // as sum, but multiplied
  max,   // as sum, but the maximum of each element (NaN wins)
  min,   // as sum, but the minimum of each element
  whole  // cannot be split
};
std::string_view name(FactorKind kind);
bool combines(FactorKind kind);          // whether parts are combined: sum, prod, max or min
ReduceFn combining_fn(FactorKind kind);  // Requires: combines(kind).

// A set of operands in which an op is linear: it commutes with adding (or otherwise combining) them. If exactly these
// operands are partial values, still to be combined over the members, so are the results. All other operands must be
// whole.
struct LinearOperands {
  static constexpr std::uint64_t kEveryOperand = ~std::uint64_t{0};

  std::uint64_t operands = 0;  // a bitmask
  bool sums_only = true;       // false: commutes with every ReduceFn, as ops that only move elements do

  bool has(std::size_t operand) const {
    return operands == kEveryOperand || (operand < 64 && (operands >> operand & 1) != 0);
  }
  bool allows(ReduceFn fn) const { return !sums_only || fn == ReduceFn::sum; }
};

// The factors of one use of an op. A dim of an operand or result is the product of its factors, in their order here,
// outermost first. A dim without factors cannot be split, unless its size is 1. Splitting a dim splits its outermost
// factor.
class Factors {
 public:
  struct Factor {
    std::int64_t size = 1;
    FactorKind kind = FactorKind::map;
  };

  Factors(std::size_t operands, std::size_t results) : operands_(operands), results_(results) {}

  std::size_t size() const { return factors_.size(); }
  const Factor& operator[](std::size_t factor) const { return factors_[factor]; }
  std::size_t operand_count() const { return operands_; }
  std::size_t result_count() const { return results_; }
  // The dim that contains the factor, or -1.
  int operand_dim(std::size_t factor, std::size_t operand) const { return dims_[factor * columns() + operand]; }
  int result_dim(std::size_t factor, std::size_t result) const {
    return dims_[factor * columns() + operands_ + result];
  }

  // For the rules, which build the Factors.
  std::size_t add(std::int64_t size, FactorKind kind);  // in no dim yet; returns its number
  void put_operand(std::size_t factor, std::size_t operand, int dim) { at(factor, operand) = narrow(dim); }
  void put_result(std::size_t factor, std::size_t result, int dim) { at(factor, operands_ + result) = narrow(dim); }

  std::vector<LinearOperands> linear;
  // A bitmask of operands that are added to the results in addition to the sums over a sum factor. When that factor is
  // split, one part must use these operands and the others zeros.
  std::uint64_t added = 0;

 private:
  std::size_t columns() const { return operands_ + results_; }
  static std::int8_t narrow(int dim) { return static_cast<std::int8_t>(dim); }
  std::int8_t& at(std::size_t factor, std::size_t column) { return dims_[factor * columns() + column]; }

  std::size_t operands_, results_;
  std::vector<Factor> factors_;
  std::vector<std::int8_t> dims_;
};

using Types = std::span<const TensorType* const>;

// Requires: `results` are what infer() returns for the operands.
Factors factors(const Op& op, Types operands, Types results);

// The rule of a structured op as one line for docs/ops.md: "... m k, ... k n -> ... m n".
std::string factors_text(const Op& op);

// "map 4 in0.0 out0.0; ..." (operand or result, dot, dim), for tests and traces.
std::string to_string(const Factors& factors);

// One pair of functions per op, unless its struct has kFactors. For the .cc files of ir/; other code calls the
// functions above.
namespace factor_rules {

#define OP(type)                                                  \
  Factors factors(const type& op, Types operands, Types results); \
  std::string_view text(const type& op);
BURN_OPS(OP)
#undef OP

// Parses a rule in einsum notation. Operands and results are separated by commas, and each lists its dims: a name is a
// factor, which is map if a result has it and otherwise sum; `...` is any number of dims, the same in all lists; `!` is
// a dim that cannot be split, `!...` any number of them. Operands at the end may be missing.
Factors read(std::string_view rule, Types operands, Types results, std::initializer_list<LinearOperands> linear = {});

// Factors of an op that maps each dim of all operands and results to itself: map, but whole along `axis`, where sizes
// may differ.
Factors along(std::int64_t axis, Types operands, Types results, std::initializer_list<LinearOperands> linear = {});

// No dim can be split.
Factors all_whole(Types operands, Types results);

constexpr LinearOperands linear_in(std::initializer_list<int> operands) {
  LinearOperands linear;
  for (const int i : operands) linear.operands |= std::uint64_t{1} << i;
  return linear;
}
// The linear operands of an op that only moves elements.
constexpr LinearOperands moves(std::uint64_t operands) { return {operands, false}; }

}  // namespace factor_rules
}  // namespace burn::ir
