// Random bits of many blocks at a time.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// The four words of each of `blocks` blocks from `first` on, as computed by ir::philox4x32. Requires: blocks is a
// multiple of 32.
void philox_bits(std::uint64_t seed, std::uint64_t first, int blocks, std::uint32_t* bits);

}  // namespace burn::backends::cpu
