// Libraries that are opened once for each GPU of the process, at their first use: what they keep there for themselves
// is large, and takes them long to set up.
#pragma once

#include "backends/cuda/compile_names.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/libraries/cufft.h"
#include "backends/cuda/libraries/cusolver.h"

namespace burn::backends::cuda {

// Thread-safe. They stay. Errors: FAILED_PRECONDITION with what is missing: the library, a function of it, or the GPU.
Result<Cufft*> cufft_of(Device& device);
Result<Solver*> solver_of(Device& device);

// Whether the device is there to compile for, not to run.
inline bool is_for_compiling(const Device& device) { return !device.context(); }

// A call that cannot be recorded in a graph, for it waits for the device. A program with one runs without.
struct UncapturedCall {
  LibraryCall call;
  Status operator()(const Bindings& bindings, CUstream stream) const { return call(bindings, stream); }
};
bool can_be_captured(std::span<const Command> commands);

}  // namespace burn::backends::cuda
