// Ops whose results have the same bits wherever they are computed from the same operands.
#pragma once

#include "ir/op.h"

namespace burn::compile::partition {

// Whether no rounding depends on the order in which a kernel computes: ops that move or choose elements, functions of
// single elements, and arithmetic on whole numbers. Others give numbers that differ in the last bits between kernels,
// and so between members that compute them from the same values.
bool is_exact(const ir::Op& op, const ir::TensorType& first_result);

}  // namespace burn::compile::partition
