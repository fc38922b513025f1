// The CUDA driver, loaded at run time: nothing of CUDA is linked, so that the same binaries start without it.
#pragma once

#include <cstdint>
#include <string>

#include <cuda.h>

#include "backends/cuda/driver/shared_library.h"
#include "base/status.h"

namespace burn::backends::cuda {

// FN(name): every function of the driver that is used, under the name that cuda.h gives it.
#define BURN_CUDA_DRIVER(FN)      \
  FN(cuGetErrorName)              \
  FN(cuGetErrorString)            \
  FN(cuInit)                      \
  FN(cuDriverGetVersion)          \
  FN(cuDeviceGetCount)            \
  FN(cuDeviceGet)                 \
  FN(cuDeviceGetName)             \
  FN(cuDeviceGetAttribute)        \
  FN(cuDeviceTotalMem)            \
  FN(cuDevicePrimaryCtxRetain)    \
  FN(cuDevicePrimaryCtxRelease)   \
  FN(cuCtxSetCurrent)             \
  FN(cuCtxGetCurrent)             \
  FN(cuMemGetInfo)                \
  FN(cuMemAlloc)                  \
  FN(cuMemFree)                   \
  FN(cuMemHostAlloc)              \
  FN(cuMemFreeHost)               \
  FN(cuMemcpyHtoDAsync)           \
  FN(cuMemcpyDtoHAsync)           \
  FN(cuMemcpyDtoDAsync)           \
  FN(cuMemsetD8Async)             \
  FN(cuStreamCreateWithPriority)  \
  FN(cuStreamDestroy)             \
  FN(cuStreamSynchronize)         \
  FN(cuStreamWaitEvent)           \
  FN(cuStreamBeginCapture)        \
  FN(cuStreamEndCapture)          \
  FN(cuEventCreate)               \
  FN(cuEventDestroy)              \
  FN(cuEventRecord)               \
  FN(cuEventQuery)                \
  FN(cuEventElapsedTime)          \
  FN(cuModuleLoadData)            \
  FN(cuModuleUnload)              \
  FN(cuModuleGetFunction)         \
  FN(cuFuncSetAttribute)          \
  FN(cuLaunchKernel)              \
  FN(cuGraphInstantiateWithFlags) \
  FN(cuGraphExecDestroy)          \
  FN(cuGraphDestroy)              \
  FN(cuGraphLaunch)

struct Driver {
#define FN(name) decltype(&::name) name = nullptr;
  BURN_CUDA_DRIVER(FN)
#undef FN
};

// The library alone; before load_driver(), not all of its functions may be called.
SharedLibrary& driver_library();

// Loaded and initialised once. Errors: FAILED_PRECONDITION with what is missing: the library, a function of it, or a
// device.
Result<const Driver*> load_driver();

// Requires: load_driver() has succeeded.
const Driver& driver();

// Converts the result of a driver call: RESOURCE_EXHAUSTED if memory is short, otherwise INTERNAL, with `what` was
// tried.
Status check(CUresult result, const char* what);
// How many failed calls check() has seen, on any device, except those for lack of memory.
std::uint64_t failed_calls();

}  // namespace burn::backends::cuda
