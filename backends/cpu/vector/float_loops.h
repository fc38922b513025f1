// Loops of the elementary functions over f32, in vectors as wide as the machine's.
#pragma once

#include "backends/cpu/ops/pointwise_loops.h"

namespace burn::backends::cpu {

// Null where there is none, and on machines without wide vectors (or with BURN_ISA=baseline): the plain loops serve.
RunLoop vector_loop(ir::PointwiseFn fn, ir::DType dtype);

}  // namespace burn::backends::cpu
