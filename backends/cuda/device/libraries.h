// Libraries that are opened once per GPU of the process, at first use: their internal state is large and slow to set
// up.
#pragma once

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/libraries/cufft.h"
#include "backends/cuda/libraries/cusolver.h"

namespace burn::backends::cuda {

// Thread-safe. They are never closed. Errors: FAILED_PRECONDITION with what is missing: the library, a function of it,
// or the GPU.
Result<Cufft*> cufft_of(Device& device);
Result<Solver*> solver_of(Device& device);

// Whether the device only compiles, and has no GPU to run on.
inline bool is_for_compiling(const Device& device) { return !device.context(); }

// A call that cannot be captured in a graph, as it waits for the device. Programs with such a call run without graphs.
struct UncapturedCall {
  LibraryCall call;
  Status operator()(const Bindings& bindings, CUstream stream) const { return call(bindings, stream); }
};
bool can_be_captured(std::span<const Command> commands);

}  // namespace burn::backends::cuda
