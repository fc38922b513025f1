// The kernel that copies a view.
#pragma once

#include "backends/cuda/compile_names.h"

namespace burn::backends::cuda {

// Of one shape and dtype, whatever their strides.
void emit_copy(Emitter& emit, const View& from, const View& to);

}  // namespace burn::backends::cuda
