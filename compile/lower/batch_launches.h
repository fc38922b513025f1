// Kernels of the same text that follow each other and do not depend on each other, such as the updates of all
// parameters, launched as one.
#pragma once

#include <vector>

#include "compile/lower/lowered.h"

namespace burn::compile {

// Merges what may be merged, and lets the blocks of memory that such kernels use live through all of their steps.
void merge_launches(Lowered& lowered, std::vector<Lifetime>& blocks);

}  // namespace burn::compile
