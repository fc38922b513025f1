// Convolutions as products whose tiles a block computes together; their factors are read where they lie in the images.
#pragma once

#include "compile/codegen/kernels/block_tile.h"
#include "compile/codegen/kernels/conv_values.h"

namespace burn::compile::kernels {

// The result [batch, channels, place...] of a convolution, or of its gradient (`is_forward` false), from an image and
// weights that are contiguous. False: not for such a device or such sizes.
bool emit_image_in_blocks(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from, const View& weight,
                          const View& to);

// The weights' gradient from the input and the output's gradient, which are contiguous, in the parts of the depth that
// it gives: [parts, weight]. Empty: not for such a device or such sizes.
std::optional<View> emit_weight_grad_in_blocks(Emitter& emit, const ConvSizes& sizes, const View& input,
                                               const View& output, const View& weight);

}  // namespace burn::compile::kernels
