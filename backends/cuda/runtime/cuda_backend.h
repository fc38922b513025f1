// CUDA devices: programs become kernels that NVRTC compiles and calls of NVIDIA's libraries, enqueued on a stream per
// session.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace burn::backends::cuda {

// Errors: NOT_FOUND for a device that is not there; FAILED_PRECONDITION, saying why there is no CUDA here.
Result<std::unique_ptr<Backend>> open_cuda_backend(int index);

}  // namespace burn::backends::cuda
