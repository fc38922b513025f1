// Sums rows in the pass that computes the summands: these need not be read again, nor stored unless they are needed
// elsewhere.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/chain_loops.h"

namespace burn::backends::cpu {

// For each of `rows` rows of n elements: y = (a before b), or fn(a before b); results[row] is the sum of y, or of its
// squares. Bit for bit what separate loops compute one after the other (backends/cpu/simd/reduce_loops.h).
//
// Rows of a (stride 1) and b (stride b_stride, 0 or 1) are steps[0] and steps[1] bytes apart; rows of y are adjacent. y
// may be null: then nothing is stored. Without a step before the function only the first number of b is read. Data
// `ahead` bytes after a's elements will be read next, and is prefetched.
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

// Null unless the chain is a function, with or without a step (add, sub, mul) before it, whose values are summed, or a
// single such step, whose squares are summed; null on machines without wide vectors.
RowSumLoop row_sum_loop(const Chain& chain, Summed summed);

}  // namespace burn::backends::cpu
