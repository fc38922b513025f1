// Rewrites a program for a device that has not all ops: what it lacks becomes several ops that it has.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/status.h"
#include "ir/program.h"

namespace burn::compile {

// Whether a device has this op on these operand types, which fit it; otherwise UNIMPLEMENTED, naming it
// (Backend::supports).
using Supports = std::function<Status(const ir::Op& op, std::span<const ir::TensorType* const> operands)>;

// The program itself where the device supports all of it. Inputs, outputs, slots and results stay as they are.
// Errors: UNIMPLEMENTED for an op that the device does not support and that nothing else here is made of, naming it
// and its call site; what ProgramBuilder says.
Result<std::shared_ptr<const ir::Program>> decompose(std::shared_ptr<const ir::Program> program,
                                                     const Supports& supports);

}  // namespace burn::compile
