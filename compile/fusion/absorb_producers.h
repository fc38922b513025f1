// A pass of fuse.h that moves a group into the only group that reads it.
#pragma once

#include "compile/fusion/fuse.h"
#include "compile/fusion/grouping.h"

namespace burn::compile {

// Merges a group into the only group that reads its results. This is a separate pass because nodes are assigned to
// groups before their readers are known. It cannot make a cycle: if another path led from one group to the other, the
// two groups would depend on each other already.
void absorb_producers(const FuseLimits& limits, Grouping& grouping);

}  // namespace burn::compile
