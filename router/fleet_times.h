// What a router counts of its sessions on all workers, for metrics: of all of them together.
#pragma once

#include "serving/duration_histogram.h"

namespace burn::router {

// Thread-safe.
struct FleetTimes {
  serving::DurationHistogram first_group;  // until the workers of a session were connected to each other
  serving::DurationHistogram new_group;    // the same after a run that ended the group
  serving::DurationHistogram rewrite;      // of a program for the workers, where its inputs lay as they had not before
};

}  // namespace burn::router
