// The sizes of the blocks in memory pools.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace burn::backends {

// Rounds up to one of eight sizes per doubling, so that freed blocks fit later requests; at most an eighth is wasted.
inline std::size_t block_size_of(std::size_t bytes, std::size_t smallest) {
  if (bytes <= smallest) return smallest;
  const auto step = std::max(std::bit_floor(bytes - 1) / 8, smallest);
  return (bytes + step - 1) / step * step;
}

}  // namespace burn::backends
