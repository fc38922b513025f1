// Conversion between dtypes, as an op and for kernels that compute in another type than they store.
#pragma once

#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Over n elements: a contiguous result from elements `stride` apart.
using CastLoop = void (*)(std::int64_t n, void* result, const void* source, std::int64_t stride);
CastLoop cast_loop(ir::DType from, ir::DType to);

// Returns the array itself if it has the dtype already.
Result<Array> cast(Run& run, const Array& x, ir::DType dtype);

}  // namespace burn::backends::cpu
