// Matrix products of 16-bit floats by the tiles that a subgroup multiplies (Code::tile_multiply).
#pragma once

#include "compile/codegen/kernels/product_values.h"

namespace burn::compile::kernels {

// Emits the product; false where the device has no such tiles, or where rows of an operand do not begin at multiples
// of 16 bytes.
bool emit_product_in_tiles(Emitter& emit, const ProductOperands& operands);

}  // namespace burn::compile::kernels
