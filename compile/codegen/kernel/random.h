// The random numbers of ir/semantics/philox.h over values.
#pragma once

#include "compile/codegen/kernel/value.h"
#include "ir/enums.h"
#include "ir/ops.h"

namespace burn::compile::kernel {

// The number at a position (u64) of those that begin with block `first` (u64), in f32, f64 or u64.
Value random_at(ir::RandomFn fn, ir::DType type, Value seed, Value first, Value position);

}  // namespace burn::compile::kernel
