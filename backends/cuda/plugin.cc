// What libburn_cuda.so exports to the program that loads it.
#include "backends/registry/plugin.h"

#include "backends/cuda/device/device.h"
#include "backends/cuda/device/report.h"
#include "backends/cuda/runtime/cuda_backend.h"

extern "C" [[gnu::visibility("default")]] const burn::backends::Plugin burn_plugin;
const burn::backends::Plugin burn_plugin{
    .version = BURN_VERSION,
    .device_count = burn::backends::cuda::device_count,
    .open = burn::backends::cuda::open_cuda_backend,
    .report = burn::backends::cuda::report,
};
