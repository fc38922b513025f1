// Estimates how much a program computes, from its types alone. Limits on work are checked with it before a run.
#pragma once

#include "ir/program.h"

namespace burn::ir {

// About how many elements one run of the program reads or writes, on any device: an op counts as the largest of its
// operands and results, an op that combines each element with several others accordingly more, and a view 0. A
// multiply-add of a product or convolution counts as a sixteenth, as devices do many of them at once. A core does about
// 10^9 per second, a GPU 10^12. A double, as it may exceed 2^64.
double estimated_work(const Program& program);
// The same for one of its nodes.
double estimated_work(const Program& program, const Node& node);

}  // namespace burn::ir
