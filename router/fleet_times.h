// Durations that a router measures, over all of its sessions on all workers, for metrics.
#pragma once

#include "serving/duration_histogram.h"

namespace burn::router {

// Thread-safe.
struct FleetTimes {
  serving::DurationHistogram first_group;  // the time to connect the workers of a session to each other
  serving::DurationHistogram new_group;    // the same, after a failed run that ended the groups
  serving::DurationHistogram rewrite;      // the time to rewrite a program for new layouts of its inputs
};

}  // namespace burn::router
