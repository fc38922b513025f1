// Which operation of SPIR-V an instruction of the kernel language is.
#pragma once

#include "compile/codegen/dialects/spirv_numbers.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::spirv {

// Of arithmetic and comparisons. `type`: of the operands.
Op operation(kernel::Code code, ir::DType type);
// Of the functions that GLSL.std.450 has: floor to abs.
Function function(kernel::Code code);

}  // namespace burn::compile::spirv
