// Rewrites a program for a device that lacks some ops: each of those is replaced by several ops that it supports.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/status.h"
#include "ir/program.h"

namespace burn::compile {

// OK if a device supports this op on these operand types, which must be valid for the op; otherwise UNIMPLEMENTED,
// naming the op (Backend::supports).
using Supports = std::function<Status(const ir::Op& op, std::span<const ir::TensorType* const> operands)>;

// Returns the given program if the device supports all of it. Inputs, outputs, slots and results are unchanged.
// Errors: UNIMPLEMENTED for an op that the device does not support and that has no rule here, naming it and its call
// site; those of ProgramBuilder.
Result<std::shared_ptr<const ir::Program>> decompose(std::shared_ptr<const ir::Program> program,
                                                     const Supports& supports);

}  // namespace burn::compile
