// Rewrites a program for a device that has not all ops: what it lacks becomes several ops that it has.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace burn::backends {

// The program itself where the backend supports all of it. Inputs, outputs, slots and results stay as they are.
// Errors: UNIMPLEMENTED for an op that the backend does not support and that nothing else here is made of, naming it
// and its call site; what ProgramBuilder says.
Result<std::shared_ptr<const ir::Program>> decompose(std::shared_ptr<const ir::Program> program,
                                                     const Backend& backend);

}  // namespace burn::backends
