// From an op to what the device does for it: one function per op, each in the file of its family.
#pragma once

#include "backends/cuda/compile_names.h"
#include "ir/dispatch.h"
#include "ir/program.h"

namespace burn::backends::cuda {

namespace lowering {

// Call as lowering::lower: a missing one must not compile. Errors: UNIMPLEMENTED, which supports() says too; what the
// libraries say.
#define OP(type) Status lower(Emitter& emit, const ir::type& op, const NodeInPlan& at);
BURN_OPS(OP)
#undef OP

}  // namespace lowering
}  // namespace burn::backends::cuda
