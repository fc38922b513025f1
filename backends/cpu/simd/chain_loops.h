// Several cheap f32 functions in one pass: a tile spends more time on loads and stores than on an addition.
#pragma once

#include <optional>

#include "backends/cpu/simd/pointwise_table.h"

namespace burn::backends::cpu {

// (((a f0 b) f1 c) f2 d) f3 e, of one to four steps; where a step is swapped, its new operand comes first. Each step
// rounds. With a function, a is fn(x), or fn(x before z).
struct Chain {
  static constexpr int kMaxSteps = 4;

  std::optional<ir::PointwiseFn> function, before;
  int steps = 0;
  ir::PointwiseFn fns[kMaxSteps] = {};
  bool swapped[kMaxSteps] = {};  // never for the first step, unless there is a function

  bool is_one_step() const { return steps == 1 && !function; }
};

enum class Store { cached, past_caches };  // the latter needs finish_streaming()

// For chains without a function. Operands have stride 0 or 1. Null unless the steps are two or three of add, sub and
// mul (the first and the third may also be div), or those of a norm, (a - b) / c * d + e: its first two, three or all
// steps, with a product or a quotient by c. Null on machines without wide vectors.
RunLoop chain_loop(const Chain& chain);

// For chains of a function and one to three steps: a sum, a product, and a product or a quotient, in this order. x must
// have stride 1, and z, by which x is multiplied or (for erf and tanh) divided, stride 0. Null for others.
RunLoop function_chain_loop(const Chain& chain, Store store);

}  // namespace burn::backends::cpu
