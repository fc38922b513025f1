// Metrics of this process from the operating system, under the names that Prometheus's own clients use.
#pragma once

#include "daemon/operator/metrics.h"

namespace burn::daemon {

// Leaves out samples that /proc does not provide.
void collect_process(Samples& samples);

}  // namespace burn::daemon
