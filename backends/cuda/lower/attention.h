// Which attention ops have kernels of their own; others are decomposed into products and a softmax.
#pragma once

#include <span>

#include "backends/cuda/device/device.h"
#include "ir/ops.h"

namespace burn::backends::cuda {

// Errors: UNIMPLEMENTED with the reason, including a missing or old library.
Status supports_attention(Device& device, const ir::Attention& op, std::span<const ir::TensorType* const> operands);
Status supports_attention(Device& device, const ir::AttentionGrad& op, std::span<const ir::TensorType* const> operands);

}  // namespace burn::backends::cuda
