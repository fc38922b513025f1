// Loops that take several rounds at once.
#pragma once

#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::kernel {

// The same kernel in which loops that hold no other loop and no break, and count by one, take eight or four rounds at a
// time, and what is left over one by one; loops of many instructions stay as they are. For devices that end loops after
// a number of rounds (DeviceFacts::has_limited_loops). Results are the same to the last bit.
Kernel unrolled(const Kernel& kernel);

}  // namespace burn::compile::kernel
