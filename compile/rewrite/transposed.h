// Products that are wanted the other way round.
#pragma once

#include <optional>

#include "ir/program.h"

namespace burn::compile {

// (A B)^T is B^T A^T: a product of matrices of floats that nothing but a transposition reads is computed as what that
// makes of it, since libraries read transposed operands at no cost, and whoever goes on with the result finds it
// row-major. So it is with the gradient of a table that an embedding and the last layer share. Products of batches stay
// as they are, which have ways of their own. Nothing: there is none. Inputs, outputs, slots and results stay as they
// are; the hash is that of the original.
std::optional<ir::Program> turn_products(const ir::Program& program);

}  // namespace burn::compile
