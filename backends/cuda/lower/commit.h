// The kernels of a Commit (ir/ops/commit.h).
#pragma once

#include <span>

#include "backends/cuda/driver/compile_names.h"

namespace burn::backends::cuda {

// Computes the bool at `to`: whether the bool at `before` is true and none of the reports (Emitter::report()) is marked
// as failed.
void emit_commit(Emitter& emit, Address before, std::span<const Address> reports, const Address& to);

}  // namespace burn::backends::cuda
