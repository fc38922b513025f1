// Enqueues the commands of a lowered program on a stream.
#pragma once

#include <span>
#include <vector>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"

namespace burn::backends::cuda {

Status enqueue(const Command& command, std::span<const Kernel> kernels, const Bindings& bindings, CUstream stream);

// Enqueues the commands, except those of steps that `left_out` marks. `kernels`: by Launch::source.
Status enqueue(std::span<const Command> commands, std::span<const Kernel> kernels, const Bindings& bindings,
               CUstream stream, const std::vector<bool>& left_out = {});

}  // namespace burn::backends::cuda
