// Groups of nodes (compile/fusion/group.h) as kernels of the kernel language: one each, over elements or over rows.
#pragma once

#include "compile/codegen/emitter.h"
#include "compile/codegen/group_plan.h"
#include "compile/fusion/group.h"

namespace burn::compile::kernels {

// Emits the kernel of a group whose `results` others use. A single node that is computed element by element is a group
// of one. Requires: no sums over all rows (FuseLimits::min_summed_rows is 0).
Status emit_group(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results);

// What emit_group() makes of groups without rows, and of those with rows.
Status emit_elements(Emitter& emit, const GroupPlan& plan);
Status emit_rows(Emitter& emit, const GroupPlan& plan);

}  // namespace burn::compile::kernels
