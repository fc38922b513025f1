// A pass of fuse.h: sums over rows.
#pragma once

#include "compile/fusion/fuse.h"
#include "compile/fusion/grouping.h"

namespace burn::compile {

// A sum over all rows, or over everything, of what a group computes becomes its member: what it sums need not be kept
// in memory for it then. What reads the sum is no member, so no circle can come of it.
void take_sums(const FuseLimits& limits, Grouping& grouping);

}  // namespace burn::compile
