// A pass that makes sums and products of narrow integers and bools read them directly, instead of a copy in i64.
#pragma once

#include <optional>

#include "ir/program.h"

namespace burn::compile {

// Makes every sum and product over a cast to i64 of bools, or of integers of at most 32 bits, read the operand of the
// cast, and removes casts that are no longer read. Such a Reduce has a result dtype, i64, that differs from its
// operand's, and kernels compute it in i64. Programs of clients have no such node, only those that plans are made from.
// The pass must be the last one, because passes that compare ops would mistake the node for the sum in the narrow
// dtype. Returns std::nullopt if there is no such sum or product.
std::optional<ir::Program> read_narrow(const ir::Program& program);

}  // namespace burn::compile
