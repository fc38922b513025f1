// Sums over rows less a number that is computed from the row itself: of exp(x - the largest x), of the squares of x -
// the mean. The number of the next row is computed in the pass over this one, so a row is read from memory once and no
// instruction waits for it.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/row_sums.h"

namespace burn::backends::cpu {

// For each of `rows` rows of n elements, `step` bytes apart: centres[row] is the row's largest element, or its sum
// divided by `divisor`; y = exp(a - centre), or a - centre; results[row] is the sum of y, or of its squares. Bit for
// bit the results of separate loops, one after the other.
//
// Rows of y are adjacent; y may be null (then nothing is stored), and may be a itself. The rows that will be read next
// are `next_tile` bytes after a. If the next call reads them, `carried` passes the centre of the first of them from
// this call to that one: `starts` means that there is none yet, `ends` that none will be needed.
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

// Sums the values of exp after sub, where the centre is the largest element, or the squares of a single sub, where it
// is the mean. Null for other chains, and on machines without wide vectors.
CentredSumLoop centred_sum_loop(const Chain& chain, Centre centre);

}  // namespace burn::backends::cpu
