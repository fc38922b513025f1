// The kernels of a Commit (ir/ops/commit.h).
#pragma once

#include <span>

#include "backends/cuda/compile_names.h"

namespace burn::backends::cuda {

// Makes the bool at `to`: whether the one at `before` is true and none of the reports, as Emitter::report() gives them,
// is marked.
void emit_commit(Emitter& emit, Address before, std::span<const Address> reports, const Address& to);

}  // namespace burn::backends::cuda
