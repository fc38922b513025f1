// Sums of rows in the pass that computes what is summed: what a row is combined of need not be read again, nor stored
// where nobody else wants it.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/chain_loops.h"

namespace burn::backends::cpu {

// For each of `rows` rows of n elements: y = (a before b), or fn(a before b); results[row] is the sum of y, or of its
// squares. Bit by bit what the loops of the parts give one after the other (backends/cpu/simd/reduce_loops.h).
//
// Rows of a (stride 1) and b (stride b_stride, 0 or 1) are steps[0] and steps[1] bytes apart, those of y follow one
// another. y may be null: then nothing is stored. Without a step b is not read beyond its first number. What is `ahead`
// bytes after a's elements will be read next, and is asked for meanwhile.
struct RowSumArgs {
  std::int64_t rows = 0, n = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  std::int64_t b_stride = 0;
  std::int64_t ahead = 0;
  std::int64_t steps[2] = {};
  float* y = nullptr;
  float* results = nullptr;
};
using RowSumLoop = void (*)(const RowSumArgs& args);

enum class Summed { values, squares };

// Null unless the chain is a function, with or without a step (add, sub, mul) before it, and its values are summed; or
// such a step alone, and its squares are; and on machines without wide vectors.
RowSumLoop row_sum_loop(const Chain& chain, Summed summed);

}  // namespace burn::backends::cpu
