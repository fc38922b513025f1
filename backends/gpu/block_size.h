// The sizes of memory blocks that pools keep.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace burn::backends {

// Eight sizes for every doubling: what comes back fits what is asked for next, and at most an eighth is lost.
inline std::size_t block_size_of(std::size_t bytes, std::size_t smallest) {
  if (bytes <= smallest) return smallest;
  const auto step = std::max(std::bit_floor(bytes - 1) / 8, smallest);
  return (bytes + step - 1) / step * step;
}

}  // namespace burn::backends
