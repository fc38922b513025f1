// What the system says of this process, as samples: the names that Prometheus's own clients have.
#pragma once

#include "daemon/operator/metrics.h"

namespace burn::daemon {

// Leaves out what /proc does not tell.
void collect_process(Samples& samples);

}  // namespace burn::daemon
