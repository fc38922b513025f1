// Convolutions over 1 to 3 spatial dims and their adjoints (ir/ops/windows.h), as products whose operands are never
// written down: an element of theirs is found in the image.
#pragma once

#include "compile/codegen/emitter.h"
#include "ir/ops/windows.h"

namespace burn::compile::kernels {

// Operands and result of one floating dtype, of any strides but for the result, which is row-major; 16-bit floats are
// summed up in f32. Sums are in a fixed order.
Status emit_conv(Emitter& emit, const ir::Conv& op, const View& input, const View& weight, const View& output);
Status emit_conv_input_grad(Emitter& emit, const ir::ConvInputGrad& op, const View& output, const View& weight,
                            const View& input);
Status emit_conv_weight_grad(Emitter& emit, const ir::ConvWeightGrad& op, const View& input, const View& output,
                             const View& weight);

}  // namespace burn::compile::kernels
