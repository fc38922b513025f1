// Matrix products of 16-bit floats by the tiles that a subgroup multiplies (Code::tile_multiply).
#pragma once

#include <vector>

#include "compile/codegen/kernels/product_values.h"

namespace burn::compile::kernels {

// How the product may be spread over blocks: what is taken untimed first, then others that may be faster on the device.
// Empty where the device has no such tiles, or where rows of an operand do not begin at multiples of 16 bytes.
std::vector<BlockGrid> grids_in_tiles(const DeviceFacts& facts, const ProductOperands& operands);

// Requires: one of those grids.
void emit_product_in_tiles(Emitter& emit, const ProductOperands& operands, const BlockGrid& grid);

}  // namespace burn::compile::kernels
