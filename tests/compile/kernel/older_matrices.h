// Cooperative matrices as an older validator knows them.
#pragma once

#include "tests/compile/kernel/spirv_validator.h"

namespace burn::testing {

// The validator of Debian 12 knows cooperative matrices by their first extension alone: the same instructions under
// other numbers, matrices without a use, layouts as bools. Elements of bf16 are f16 there.
SpirvWords with_older_matrices(const SpirvWords& words);

}  // namespace burn::testing
