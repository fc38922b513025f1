// Formulas of numbers that the program has in it, which are numbers before it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// Finds them: sums, differences, products and quotients of f32 and f64, which every processor rounds alike. Linear in
// the program's size.
class FoldedNumbers {
 public:
  explicit FoldedNumbers(const ir::Program& program);

  // What a node that computes is in all of its elements; null: not known, or the node computes nothing.
  const ir::Constant* of_node(std::size_t node) const {
    return folded_.empty() || folded_[node] < 0 ? nullptr : &numbers_[static_cast<std::size_t>(folded_[node])];
  }

 private:
  std::vector<ir::Constant> numbers_;
  std::vector<std::int32_t> folded_;  // per node: in numbers_, or -1; empty: none is
};

}  // namespace burn::compile
