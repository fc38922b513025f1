// Emits a kernel of the kernel language.
#pragma once

#include <vector>

#include "compile/codegen/emitter.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernels {

// Takes the kernel out of the writer. `grid`: the threads of a block are the kernel's. Arguments in the order of the
// kernel's parameters.
void launch(Emitter& emit, kernel::Writer& writer, Grid grid, std::vector<Argument> arguments);

}  // namespace burn::compile::kernels
