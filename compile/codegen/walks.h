// The kernels of groups, by how they walk, and the walk as a kernel's parameter.
#pragma once

#include <string>

#include "compile/codegen/group_plan.h"

namespace burn::compile {

Status emit_elements(Emitter& emit, const GroupPlan& plan);
// Vectors of one thread of a group without rows. With several, the next one's operands are on their way while the first
// is computed, and numbers that all elements share are read less often; a kernel that only moves is faster with one,
// and so is a small tensor.
int vectors_per_thread(const DeviceFacts& device, const GroupPlan& plan);
Status emit_rows(Emitter& emit, const GroupPlan& plan);

// A kernels/index.h Walk over as many values as the plan has.
Argument walk_argument(const LoopDims& plan);
// The offsets of a position, where the kernel knows the walk by a name.
std::string offsets_in(const LoopDims& plan, const std::string& walk, const std::string& position);

}  // namespace burn::compile
