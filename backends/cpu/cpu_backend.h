// The CPU of this machine as a device.
#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/cpu/runtime/memory.h"

namespace burn::backends {

Result<std::unique_ptr<Backend>> open_cpu_backend(const cpu::Pool::Config& config = {});

}  // namespace burn::backends
