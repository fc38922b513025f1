// What a group reads and writes, sorted by how its kernel addresses it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/codegen/emitter.h"
#include "compile/fusion/group.h"

namespace burn::compile {

// The dims that a kernel walks, after neighbouring ones were merged, and the strides of each full operand along them.
struct LoopDims {
  std::vector<std::int64_t> sizes;                 // outermost first
  std::vector<std::vector<std::int64_t>> strides;  // [operand][dim]

  int rank() const { return static_cast<int>(sizes.size()); }
  // Every operand lies as the walk goes, without gaps.
  bool is_linear() const;
  // Neither a position nor an offset needs more than 31 bits, and none is negative.
  bool is_narrow() const;
};

// Merges what can be walked as one dim in all operands, and leaves out dims of size 1. At least one dim remains.
LoopDims merge_dims(std::span<const std::int64_t> sizes, const std::vector<std::vector<std::int64_t>>& strides);

struct GroupOperand {
  enum class Kind : std::uint8_t {
    constant,  // known when the program is written: a parameter
    scalar,    // one number in memory for all elements
    row,       // one per row
    column,    // one per column: a result
    full,      // one per element
    computed,  // one per element, which the kernel has computed itself: it is not in memory
  };
  ir::Ref ref;
  Kind kind = Kind::full;
  View view;              // not of constants and what is computed
  ir::Constant constant;  // of constants
  bool counts = false;    // full: no memory, the element at an offset is that offset (Emitter::counted)
  int full_index = -1;    // among the full ones, results included: its place in the walks
  int row_index = -1;     // among the row ones
};

// How many elements of every operand one access may take, up to `most`: what alignment, strides and the innermost size
// allow.
int vector_width(const LoopDims& walk, std::span<const View> views, int most);

}  // namespace burn::compile
