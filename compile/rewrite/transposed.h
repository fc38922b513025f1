// A pass that computes products transposed if only their transpose is read.
#pragma once

#include <optional>

#include "ir/program.h"

namespace burn::compile {

// (A B)^T is B^T A^T: if the only reader of a product of float matrices is a transposition, the product is computed as
// B^T A^T, because libraries read transposed operands at no cost and the next op then reads a row-major result. An
// example is the gradient of a table that an embedding and the last layer share. Products of batches are not changed;
// they have methods of their own. Returns std::nullopt if there is no such product. Inputs, outputs, slots and results
// are unchanged; the hash is that of the original.
std::optional<ir::Program> transpose_products(const ir::Program& program);

}  // namespace burn::compile
