// Where a kernel loads each of its parameters from the argument record.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::spirv {

// Per instruction: the parameters to load before it. Each that is used is loaded once: before its first use, or before
// the branches that its uses have in common, or before the loop that they are in. A register for a number that only the
// end of a kernel needs is then free while its loops run.
std::vector<std::vector<std::uint64_t>> load_points(const kernel::Kernel& kernel);

}  // namespace burn::compile::spirv
