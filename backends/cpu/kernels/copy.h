// Elements moved from one layout to another.
#pragma once

#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Requires: the same dtype and shape; the two do not overlap. `to` may be any view that names each element once.
void copy(const Array& from, Array& to);

// The array itself if it is row-major without gaps, otherwise a row-major copy.
Result<Array> contiguous(Run& run, const Array& x);

// A row-major array with the elements of x that may be written to: x itself if nobody else has it, otherwise a copy.
Result<Array> writable(Run& run, const Array& x);

}  // namespace burn::backends::cpu
