// Convolutions without products of blocks, for 32-bit sums: a thread keeps the sums of all its channels in registers
// and works out where an element lies once for all channels.
#pragma once

#include "compile/codegen/kernels/conv_values.h"

namespace burn::compile::kernels {

// The result [batch, channels, place...] of a convolution, or of its gradient (`is_forward` false), from an image and
// weights that are contiguous. False: not for such a device or such sizes.
bool emit_image_directly(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from, const View& weight,
                         const View& to);

// The weights' gradient from the input and the output's gradient, which are contiguous, in the parts of the depth that
// it gives: [parts, weight], or the weights' own memory. Empty: not for such a device or such sizes; it is for few
// channels.
std::optional<View> emit_weight_grad_directly(Emitter& emit, const ConvSizes& sizes, const View& input,
                                              const View& output, const View& weight);

}  // namespace burn::compile::kernels
