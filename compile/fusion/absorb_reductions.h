// A pass of fuse.h that adds sums over all rows to groups.
#pragma once

#include "compile/fusion/fuse.h"
#include "compile/fusion/grouping.h"

namespace burn::compile {

// Makes a sum over all rows, or over all elements, of a value that a group computes a member of that group, so that the
// value need not be stored in memory for the sum. Readers of the sum are not members, so this cannot make a cycle.
void absorb_sums(const FuseLimits& limits, Grouping& grouping);

}  // namespace burn::compile
