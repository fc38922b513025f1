// Iotas that have no memory.
#pragma once

#include <vector>

#include "backends/plan/plan.h"
#include "backends/plan/views.h"

namespace burn::backends::cuda {

// Per value: whether it is an Iota that only formulas read, which have an element's position anyhow.
std::vector<bool> find_counted(const ir::Program& program, const Plan& plan, const std::vector<ValueView>& views);

}  // namespace burn::backends::cuda
