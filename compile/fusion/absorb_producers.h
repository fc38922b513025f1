// A pass of fuse.h: groups that one other group reads.
#pragma once

#include "compile/fusion/fuse.h"
#include "compile/fusion/grouping.h"

namespace burn::compile {

// What was placed before anybody knew who would read it. If only one group reads the results of another, it may compute
// them itself: who read them on another way would have made a circle of the two already.
void take_sources(const FuseLimits& limits, Grouping& grouping);

}  // namespace burn::compile
