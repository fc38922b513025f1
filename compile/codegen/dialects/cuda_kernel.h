// A kernel of the kernel language as CUDA C++.
#pragma once

#include <memory>

#include "compile/codegen/dialects/kernel_source.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile {

// A statement for each instruction: value 12 is `v12`, parameter 0 `p0`, shared array 0 `s0`. What an instruction
// computes that C++ has no operator for stands in backends/cuda/kernels/instructions.h. Floats are computed as written:
// nothing is contracted. Arguments as for any kernel: each has eight bytes. Subgroups are warps.
KernelSource print_cuda(const kernel::Kernel& kernel);

// The same as a kernel that may be merged with others of its text (BlockKernel); null: it cannot be, as it has not 256
// threads or asks for more than the number of its block.
std::shared_ptr<const BlockKernel> print_cuda_block(const kernel::Kernel& kernel);

}  // namespace burn::compile
