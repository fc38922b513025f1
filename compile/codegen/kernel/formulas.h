// The functions of ir/ops/pointwise.def over values: the same rows that CPUs compile as C++.
#pragma once

#include <span>

#include "compile/codegen/kernel/value.h"
#include "ir/ops/pointwise.h"

namespace burn::compile::kernel {

// Requires: as many operands as the function has, in compute types that its row takes.
Value apply(ir::PointwiseFn fn, std::span<const Value> operands);

}  // namespace burn::compile::kernel
