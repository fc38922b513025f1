// Puts the commands of a lowered program on a stream.
#pragma once

#include <span>
#include <vector>

#include "backends/cuda/compile_names.h"
#include "backends/cuda/device/device.h"

namespace burn::backends::cuda {

Status enqueue(const Command& command, std::span<const Kernel> kernels, const Bindings& bindings, CUstream stream);

// Enqueues the commands, but those of the steps that are marked. `kernels`: by Launch::source.
Status enqueue(std::span<const Command> commands, std::span<const Kernel> kernels, const Bindings& bindings,
               CUstream stream, const std::vector<bool>& left_out = {});

}  // namespace burn::backends::cuda
