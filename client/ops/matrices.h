// What functions of matrices check and build first. For the .cc files of client/ops.
#pragma once

#include "client/ops/ops.h"

namespace burn::client {

// In the dtype that arithmetic happens in; what is no matrix of floats is refused by name.
Value matrices(const Value& x, const char* op, const Site& site);
Value square_matrices(const Value& x, const char* op, const Site& site);
Value identity_like(const Value& x, const Site& site);  // ones on the diagonal of [..., n, m], zeros elsewhere
// The batch dims of two operands broadcast; errors are the op's own.
void broadcast_batch(Value& a, Value& b, const Site& site);

}  // namespace burn::client
