// Whether an instruction of a kernel has operands, and a result, of types that it can be computed with. A part of
// check().
#pragma once

#include <cstddef>
#include <string>

#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::kernel {

// Whether there are registers of that type. 16-bit floats are in memory only.
bool is_register(ir::DType type);

// What is wrong with the types of the instruction at that place in the kernel's body; empty: nothing. Requires: it has
// the operands it takes, and they are in front of it.
std::string type_error(const Kernel& kernel, std::size_t at);

}  // namespace burn::compile::kernel
