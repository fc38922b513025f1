// Index operands of gather and scatter.
#pragma once

#include "backends/cpu/run.h"

namespace burn::backends::cpu {

// The index as i64 of the same shape. Errors: OUT_OF_RANGE if one lies outside 0 .. size - 1. Where an index is an
// expanded view, only what it repeats is looked at.
Result<Array> checked_index(Run& run, const Array& index, std::int64_t size);

}  // namespace burn::backends::cpu
