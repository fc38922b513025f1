// Factorisations by cuSOLVER and cuBLAS, which spread one large matrix over the whole device.
#pragma once

#include "backends/cuda/lower/lower.h"

namespace burn::backends::cuda::by_library {

// Whether the library is available, and faster for such matrices than one block of our kernel for each of them. `op`:
// one of those below; `at`: its node.
template <typename Op>
bool is_better(Emitter& emit, const Op& op, const NodeInPlan& at);

// Requires: is_better() returned true; the operands are not empty.
Status lower(Emitter& emit, const ir::Cholesky& op, const NodeInPlan& at);
Status lower(Emitter& emit, const ir::Lu& op, const NodeInPlan& at);
Status lower(Emitter& emit, const ir::Qr& op, const NodeInPlan& at);
Status lower(Emitter& emit, const ir::Svd& op, const NodeInPlan& at);
Status lower(Emitter& emit, const ir::Eigh& op, const NodeInPlan& at);
Status lower(Emitter& emit, const ir::Solve& op, const NodeInPlan& at);
Status lower(Emitter& emit, const ir::SolveTriangular& op, const NodeInPlan& at);

}  // namespace burn::backends::cuda::by_library
