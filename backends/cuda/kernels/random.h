// Elements of the random stream one at a time (ir/semantics/philox.h). NVRTC only.
#pragma once

#include "ir/semantics/philox.h"

namespace burn::cuda {

// A run-time index into a block would put it into local memory.
template <typename T>
BURN_ALWAYS_INLINE T lane_of(const ir::Block<T>& block, unsigned lane) {
  const T low = lane & 1 ? block.lanes[1] : block.lanes[0];
  const T high = lane & 1 ? block.lanes[3] : block.lanes[2];
  return lane & 2 ? high : low;
}

// Element `position` of the numbers that begin with block `first`.
template <typename T>
BURN_ALWAYS_INLINE T uniform_at(std::uint64_t seed, std::uint64_t first, std::uint64_t position) {
  return lane_of(ir::uniform_block<T>(seed, first + position / 4), position % 4);
}
template <typename T>
BURN_ALWAYS_INLINE T normal_at(std::uint64_t seed, std::uint64_t first, std::uint64_t position) {
  return lane_of(ir::normal_block<T>(seed, first + position / 4), position % 4);
}
BURN_ALWAYS_INLINE std::uint64_t bits_at(std::uint64_t seed, std::uint64_t first, std::uint64_t position) {
  return lane_of(ir::bits_block(seed, first + position / 4), position % 4);
}

}  // namespace burn::cuda
