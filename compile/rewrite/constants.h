// Constant folding: evaluates formulas over a program's constants before it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// Folds negations, sums, differences, products and quotients of f32 and f64 constants, which every processor rounds
// alike. Linear in the program's size.
class FoldedNumbers {
 public:
  explicit FoldedNumbers(const ir::Program& program);

  // The constant that a pointwise node computes in every element; null if it is not known, or for any other node.
  const ir::Constant* of_node(std::size_t node) const {
    return folded_.empty() || folded_[node] < 0 ? nullptr : &numbers_[static_cast<std::size_t>(folded_[node])];
  }

 private:
  std::vector<ir::Constant> numbers_;
  std::vector<std::int32_t> folded_;  // per node: index in numbers_, or -1; empty if no node was folded
};

}  // namespace burn::compile
