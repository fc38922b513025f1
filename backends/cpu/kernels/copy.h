// Copies of elements from one layout to another.
#pragma once

#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Requires: the same dtype and shape; the two do not overlap. `to` may be any view without repeated elements.
void copy(const Array& from, Array& to);

// Returns the array itself if it is row-major without gaps, otherwise a row-major copy.
Result<Array> contiguous(Run& run, const Array& x);

// Returns a row-major array with the elements of x that may be overwritten: x itself if its buffer has no other owner,
// otherwise a copy.
Result<Array> writable(Run& run, const Array& x);

}  // namespace burn::backends::cpu
