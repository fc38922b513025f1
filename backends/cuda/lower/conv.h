// Convolutions by kernels of our own.
#pragma once

#include <optional>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/libraries/cudnn.h"

namespace burn::backends::cuda {

// The parameters of a convolution for our kernels.
burn::cuda::ConvShape conv_shape(const ConvProblem& problem, const View& first, const View& second, const View& result);

// A kernel for problems that libraries are not made for: so few channels that a product of matrices leaves most of the
// device idle. std::nullopt: the problem is not one of them.
std::optional<Alternative> conv_of_few_channels(const ConvProblem& problem);

}  // namespace burn::backends::cuda
