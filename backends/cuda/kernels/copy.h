// Moves elements between strided values. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// Vectors of kWidth elements of so many bytes; `vectors` of them. `block`: which of the blocks of one copy this is.
template <typename Word, int kWidth>
BURN_ALWAYS_INLINE void copy_elements(unsigned block, const Word* from, Word* to, std::int64_t vectors,
                                      const Walk<2>& walk) {
  const std::int64_t vector = std::int64_t{block} * blockDim.x + threadIdx.x;
  if (vector >= vectors) return;
  const auto at = offsets(walk, vector * kWidth);
  *reinterpret_cast<Pack<Word, kWidth>*>(to + at.at[1]) = *reinterpret_cast<const Pack<Word, kWidth>*>(from + at.at[0]);
}

}  // namespace burn::cuda
