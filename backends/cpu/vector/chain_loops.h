// Two cheap f32 functions in one pass: a tile spends more time on loads and stores than on an addition.
#pragma once

#include "backends/cpu/ops/pointwise_loops.h"

namespace burn::backends::cpu {

// (a first b) second c, or, with `swapped`, c second (a first b); each step rounds. Operands have stride 0 or 1.
// Null for functions other than add, sub and mul, and on machines without wide vectors.
RunLoop chain_loop(ir::PointwiseFn first, ir::PointwiseFn second, bool swapped);

}  // namespace burn::backends::cpu
