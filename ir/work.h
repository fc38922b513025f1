// How much a program computes, from its types alone: what is refused before anything runs is measured by it.
#pragma once

#include "ir/program.h"

namespace burn::ir {

// About how many numbers one run of the program looks at or makes, however the device does it: an op counts as the
// largest of its operands and results, one that combines each of them with several others accordingly more, views
// nothing. A multiply-add of a product or convolution counts as a sixteenth, as devices do many of them at once. A core
// does about 10^9 in a second, a GPU 10^12. A double, as there may be more than 2^64.
double estimated_work(const Program& program);
// The same of one of its nodes.
double estimated_work(const Program& program, const Node& node);

}  // namespace burn::ir
