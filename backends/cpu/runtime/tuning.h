// The choices among kernels that were made by timing on this processor.
#pragma once

#include "backends/autotune.h"

namespace burn::backends::cpu {

// One instance per process, with a file for this model of processor, number of threads and version.
Autotune& autotune();

}  // namespace burn::backends::cpu
