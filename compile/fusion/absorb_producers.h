// A pass of fuse.h: groups that one other group reads.
#pragma once

#include "compile/fusion/fuse.h"
#include "compile/fusion/grouping.h"

namespace burn::compile {

// Moves nodes into the group that reads them: nodes are placed before their readers are known. If only one group reads
// the results of another, it may compute them itself: no other path leads from one to the other, or the two groups
// would depend on each other already.
void take_sources(const FuseLimits& limits, Grouping& grouping);

}  // namespace burn::compile
