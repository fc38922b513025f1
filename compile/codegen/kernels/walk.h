// Walks over dims (LoopDims) in kernels.
#pragma once

#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/operands.h"

namespace burn::compile::kernels {

// The offset of each operand at a position of the walk. Sizes and strides become parameters; strides of 0 and 1 are
// part of the kernel.
std::vector<kernel::Value> offsets_in(Arguments& arguments, const LoopDims& walk, kernel::Value position);

}  // namespace burn::compile::kernels
