// Whether a kernel is one.
#pragma once

#include "base/status.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::kernel {

// Operands are there, made before their use and in a loop or branch that goes on, and of the types that the instruction
// takes; parameters, shared arrays and variables exist; loops and branches end, each in that which it began in;
// breaks are in loops; sizes are positive. Errors: INTERNAL with the instruction and what is wrong with it. Takes as
// long as instructions times loops and branches in each other.
Status check(const Kernel& kernel);

}  // namespace burn::compile::kernel
