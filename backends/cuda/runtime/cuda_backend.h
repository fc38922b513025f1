// The CUDA backend: programs become kernels compiled by NVRTC and calls of NVIDIA's libraries, enqueued on one stream
// per session.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace burn::backends::cuda {

// Errors: NOT_FOUND for a device that does not exist; FAILED_PRECONDITION with the reason why CUDA is unavailable.
Result<std::unique_ptr<Backend>> open_cuda_backend(int index);

}  // namespace burn::backends::cuda
