// Lowers an op to commands of the device: one function per op, each in the file of its family.
#pragma once

#include "backends/cuda/driver/compile_names.h"
#include "ir/dispatch.h"
#include "ir/program.h"

namespace burn::backends::cuda {

namespace lowering {

// Call as lowering::lower, so that a missing overload does not compile. Errors: UNIMPLEMENTED, which supports()
// returns, too; what the libraries say.
#define OP(type) Status lower(Emitter& emit, const ir::type& op, const NodeInPlan& at);
BURN_OPS(OP)
#undef OP

}  // namespace lowering
}  // namespace burn::backends::cuda
