// Reductions whose elements the threads of a block combine together, as GPUs do.
#pragma once

#include "compile/codegen/emitter.h"
#include "compile/codegen/operands.h"
#include "ir/enums.h"

namespace burn::compile::kernels {

// Elements of a view: for each place of the first walk, a result, those of the second walk are combined.
struct CombinedElements {
  LoopDims kept, combined;  // with the strides of the view alone
  std::int64_t results = 1, count = 1;
};

// How much of the device a reduction asks for: of each multiprocessor so many blocks at most, and of each thread so
// many accesses under way.
struct ReduceSpread {
  int blocks = 8, accesses = 4;
};

// to[result] = the combination of its elements in `accumulate`, in an order that the shapes and the spread alone
// decide. `to` is contiguous.
void emit_reduce_in_blocks(Emitter& emit, ir::ReduceFn fn, const CombinedElements& elements, const View& from,
                           const View& to, ir::DType accumulate, const ReduceSpread& spread = {});

}  // namespace burn::compile::kernels
