// How an op can be computed in parts: which dims of its operands and results are one index, and what becomes of an
// index that no result has. A program that is split over several devices is rewritten by these rules
// (compile/partition/), which stand beside the shape rules in ir/ops/. In the field: the letters of an einsum, the
// factors of Shardy (https://openxla.org/shardy).
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
  map,   // every result has it: a part of it gives that part of the results
  sum,   // no result has it: what parts of it give are added up to the results
  prod,  // as sum, but they are multiplied,
  max,   // or of each element the largest is taken (NaN wins),
  min,   // or the smallest
  whole  // cannot be split
};
std::string_view name(FactorKind kind);
bool combines(FactorKind kind);         // whether it is sum, prod, max or min
ReduceFn combination(FactorKind kind);  // Requires: combines(kind).

// Operands in which an op commutes with adding up (or another way of combining): where exactly these are values that
// have yet to be combined with those of other members, so are the results. The other operands are whole.
struct Linear {
  static constexpr std::uint64_t kEveryOperand = ~std::uint64_t{0};

  std::uint64_t operands = 0;  // a bit each
  bool sums_only = true;       // false: whatever the values are combined by, as for ops that move elements

  bool has(std::size_t operand) const {
    return operands == kEveryOperand || (operand < 64 && (operands >> operand & 1) != 0);
  }
  bool allows(ReduceFn fn) const { return !sums_only || fn == ReduceFn::sum; }
};

// The factors of one use of an op. A dim of an operand or result is the product of the factors that lie in it, in their
// order here, the outermost first; a dim of another size than 1 in which none lies is whole. Splitting a dim splits its
// outermost factor.
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
  // The dim that a factor lies in, or -1.
  int operand_dim(std::size_t factor, std::size_t operand) const { return dims_[factor * columns() + operand]; }
  int result_dim(std::size_t factor, std::size_t result) const {
    return dims_[factor * columns() + operands_ + result];
  }

  // For rules.
  std::size_t add(std::int64_t size, FactorKind kind);  // lies nowhere yet
  void put_operand(std::size_t factor, std::size_t operand, int dim) { at(factor, operand) = narrow(dim); }
  void put_result(std::size_t factor, std::size_t result, int dim) { at(factor, operands_ + result) = narrow(dim); }

  std::vector<Linear> linear;
  // Operands (a bit each) that are added to the results beside the sums over a sum factor: the parts add up only if one
  // of the parts counts these, and the others have zeros.
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

// Requires: results are what infer() gives for the operands.
Factors factors(const Op& op, Types operands, Types results);

// The rule of each structured op in a line, for docs/ops.md: "... m k, ... k n -> ... m n".
std::string factors_text(const Op& op);

// "m=4 map in0.0 out0.0; ..." for tests and traces.
std::string to_string(const Factors& factors);

// One pair of rules per op, unless its struct has kFactors. For the .cc files of ir/: all others call the functions
// above.
namespace factor_rules {

#define OP(type)                                                  \
  Factors factors(const type& op, Types operands, Types results); \
  std::string_view text(const type& op);
BURN_OPS(OP)
#undef OP

// Reads a rule as an einsum. Operands and results are separated by commas and each lists its dims: a name is a factor,
// which is map where a result has it and sum else; `...` stands for any number of dims, the same in all lists; `!` is a
// dim that cannot be split, `!...` any number of them. Operands at the end may be missing.
Factors read(std::string_view rule, Types operands, Types results, std::initializer_list<Linear> linear = {});

// Each dim is one factor, in all operands and results: map, but whole along `axis`, where sizes may differ.
Factors along(std::int64_t axis, Types operands, Types results, std::initializer_list<Linear> linear = {});

// Nothing can be split.
Factors all_whole(Types operands, Types results);

constexpr Linear linear_in(std::initializer_list<int> operands) {
  Linear linear;
  for (const int i : operands) linear.operands |= std::uint64_t{1} << i;
  return linear;
}
// Of ops that only move elements.
constexpr Linear moves(std::uint64_t operands) { return {operands, false}; }

}  // namespace factor_rules
}  // namespace burn::ir
