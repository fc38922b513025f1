// A device that computes nothing: programs are accepted, results have the right sizes and read as zeros. With it,
// protocol tests and measurements of everything but the device need no arithmetic and hardly any memory.
#pragma once

#include <memory>

#include "backends/backend.h"

namespace burn::backends {

// More than any test needs; the devices share nothing.
inline constexpr int kNullDevices = 16;

// Requires: 0 <= index < kNullDevices.
Result<std::unique_ptr<Backend>> open_null_backend(int index = 0);

}  // namespace burn::backends
