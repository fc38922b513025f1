// Groups of nodes (compile/fusion/group.h) as CUDA C++: one kernel each, over elements or over rows.
#pragma once

#include "compile/codegen/emitter.h"
#include "compile/fusion/group.h"

namespace burn::compile {

// Emits the kernel of a group whose `results` others use. A single node that is computed element by element is a group
// of one.
Status emit_group(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results);

}  // namespace burn::compile
