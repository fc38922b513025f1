// Random numbers by position, for whoever computes a tile at a time.
#pragma once

#include <cstdint>

#include "ir/ops.h"

namespace burn::backends::cpu {

// Elements [begin, begin + n) of the whole value of a Random op whose stream starts at block `first`.
void random_floats(ir::RandomFn fn, std::uint64_t seed, std::uint64_t first, std::int64_t begin, std::int64_t n,
                   float* out);

}  // namespace burn::backends::cpu
