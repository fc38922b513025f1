// Ways to convolve that are our own.
#pragma once

#include <optional>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/libraries/cudnn.h"

namespace burn::backends::cuda {

// A convolution as kernels see it.
burn::cuda::ConvShape conv_shape(const ConvProblem& problem, const View& first, const View& second, const View& result);

// For problems that libraries are not made for: so few channels that a product of matrices leaves most of the device
// idle. None: it is no such problem.
std::optional<Alternative> conv_of_few_channels(const ConvProblem& problem);

}  // namespace burn::backends::cuda
