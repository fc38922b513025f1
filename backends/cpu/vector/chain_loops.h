// Several cheap f32 functions in one pass: a tile spends more time on loads and stores than on an addition.
#pragma once

#include "backends/cpu/ops/pointwise_loops.h"

namespace burn::backends::cpu {

// ((a f0 b) f1 c) f2 d, of one to three steps; where a step is swapped, its new operand comes first. Each step rounds.
struct Chain {
  static constexpr int kMaxSteps = 3;

  int steps = 0;
  ir::PointwiseFn fns[kMaxSteps] = {};
  bool swapped[kMaxSteps] = {};  // of the first step: never
};

// Operands have stride 0 or 1. Null unless the steps are two or three of add, sub and mul (the first and the third also
// of div), and on machines without wide vectors.
RunLoop chain_loop(const Chain& chain);

}  // namespace burn::backends::cpu
