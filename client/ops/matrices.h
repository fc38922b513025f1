// Checks and conversions at the start of matrix functions. For the .cc files of client/ops.
#pragma once

#include "client/ops/ops.h"

namespace burn::client {

// x in its compute dtype. Errors (thrown), naming `op`: x is not a (square) matrix of floats.
Value matrices(const Value& x, const char* op, const Site& site);
Value square_matrices(const Value& x, const char* op, const Site& site);
Value identity_like(const Value& x, const Site& site);  // ones on the diagonal of [..., n, m], zeros elsewhere
// Broadcasts the batch dims of two operands. Operands that do not broadcast are left for the op to report.
void broadcast_batch(Value& a, Value& b, const Site& site);

}  // namespace burn::client
