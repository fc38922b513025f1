// Loops of the elementary functions over f32, in vectors as wide as the machine's.
#pragma once

#include "backends/cpu/simd/pointwise_table.h"

namespace burn::backends::cpu {

// Null if there is none, and on machines without wide vectors (or with BURN_ISA=baseline): the plain loops are used
// then.
RunLoop vector_loop(ir::PointwiseFn fn, ir::DType dtype);

// fn(a first b) in one pass, for first one of add, sub, mul and div; b has stride 0 or 1. Null as above.
RunLoop vector_loop_after(ir::PointwiseFn first, ir::PointwiseFn fn, ir::DType dtype);

}  // namespace burn::backends::cpu
