// Groups of nodes (backends/codegen/group.h) as CUDA C++: one kernel each, over elements or over rows.
#pragma once

#include "backends/codegen/group.h"
#include "backends/cuda/emitter.h"

namespace burn::backends::cuda {

// Emits the kernel of a group whose `results` others use. A single node that is computed element by element is a group
// of one.
Status emit_group(Emitter& emit, const ir::Program& program, const codegen::Group& group,
                  std::span<const ir::Ref> results);

}  // namespace burn::backends::cuda
