// The choices that this processor has made among its kernels.
#pragma once

#include "backends/autotune.h"

namespace burn::backends::cpu {

// One for the process, kept in a file for this model of processor, number of threads and version.
Autotune& autotune();

}  // namespace burn::backends::cpu
