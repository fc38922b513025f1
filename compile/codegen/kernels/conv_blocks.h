// Convolutions as products whose tiles a block computes together; their factors are read where they lie in the images.
#pragma once

#include "compile/codegen/kernels/block_tile.h"
#include "compile/codegen/kernels/conv_values.h"

namespace burn::compile::kernels {

// How a result [batch, channels, place...] of this type may be spread over blocks: what is taken untimed first, then
// others that may be faster on the device. Empty: not for such a device or such sizes.
std::vector<BlockGrid> image_grids(const DeviceFacts& facts, const ConvSizes& sizes, bool is_forward, ir::DType type);
// The result of a convolution, or of its gradient (`is_forward` false), from an image and weights that are contiguous.
void emit_image_in_blocks(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from, const View& weight,
                          const View& to, const BlockGrid& grid);

// The same for the weights' gradient.
std::vector<BlockGrid> weight_grad_grids(const DeviceFacts& facts, const ConvSizes& sizes, ir::DType type);
// From the input and the output's gradient, which are contiguous, in the parts of the depth that it gives: [parts,
// weight], or the weights' own memory.
View emit_weight_grad_in_blocks(Emitter& emit, const ConvSizes& sizes, const View& input, const View& output,
                                const View& weight, const BlockGrid& grid);

}  // namespace burn::compile::kernels
