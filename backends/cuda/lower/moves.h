// Copies of views.
#pragma once

#include "backends/cuda/driver/compile_names.h"

namespace burn::backends::cuda {

// Requires: both have the same shape and dtype; their strides may differ.
void emit_copy(Emitter& emit, const View& from, const View& to);

}  // namespace burn::backends::cuda
