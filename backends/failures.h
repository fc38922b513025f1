// What becomes of a program whose inputs failed, for backends that do not find it out as they go.
#pragma once

#include <span>
#include <vector>

#include "backends/backend.h"

namespace burn::backends {

// For each output the failure of the first input, in the order of its operands, that it is computed from; null where
// all of them are there. Empty if `inputs` is, or names no failure.
std::vector<Failure> spread(const ir::Program& program, std::span<const Failure> inputs);

}  // namespace burn::backends
