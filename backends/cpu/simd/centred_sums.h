// Sums over what is left of rows without a number that is combined of the row itself: of exp(x - the largest x), of the
// squares of x - the mean. The number of the next row is combined in the pass over this one, so a row comes from memory
// once and nobody waits for it.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/row_sums.h"

namespace burn::backends::cpu {

// For each of `rows` rows of n elements, `step` bytes apart: centres[row] is the row's largest element, or its sum by
// `divisor`; y = exp(a - centre), or a - centre; results[row] is the sum of y, or of its squares. Bit by bit what the
// loops of the parts give one after the other.
//
// Rows of y follow one another; y may be null (then nothing is stored), and may be a itself. `next_tile` bytes after a
// lie the rows that will be read next. Where they are read by the next call, `carried` takes the number of the first of
// them from this one to that: `starts` says that there is none yet, `ends` that none will be asked for.
struct CentredSumArgs {
  std::int64_t rows = 0, n = 0;
  const void* a = nullptr;
  std::int64_t step = 0, next_tile = 0;
  float divisor = 1;
  float* carried = nullptr;
  bool starts = true, ends = true;
  float* y = nullptr;
  float* centres = nullptr;
  float* results = nullptr;
};
using CentredSumLoop = void (*)(const CentredSumArgs& args);

enum class Centre { largest, mean };

// Of the values of exp after sub, without the largest element, or of the squares of sub alone, without the mean. Null
// for others, and on machines without wide vectors.
CentredSumLoop centred_sum_loop(const Chain& chain, Centre centre);

}  // namespace burn::backends::cpu
