// Groups of nodes (compile/fusion/group.h) as kernels: what their printers have in common.
#pragma once

#include <functional>
#include <initializer_list>

#include "compile/codegen/emitter.h"
#include "compile/codegen/group_plan.h"
#include "compile/fusion/group.h"

namespace burn::compile {

// Emits what `print` writes for a group, or what it has written for another one of the same kind (group_memo.h).
using PrintGroup = std::function<Status(Emitter& emit, const GroupPlan& plan)>;
Status emit_remembered(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results,
                       const PrintGroup& print);

// Says which results may be written over an operand: one that is read once, whole and as the results lie. For groups
// without rows. `others`: what else the kernel reads, at other places than those that it writes.
void allow_in_place(Emitter& emit, const GroupPlan& plan, std::initializer_list<const View*> others = {});

}  // namespace burn::compile
