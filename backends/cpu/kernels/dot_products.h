// Products of bf16 by the processor's own instructions for them, and of f32 by AVX-512 (backends/cpu/simd/dot_tiles.h).
// Every thread packs what its part of the result needs and multiplies it from its own cache. Sums are f32: of f32 in
// the order of the depth, of bf16 in the instructions' own order for 32 of the depth at a time, and rounded once at the
// end; there denormal numbers count as 0.
#pragma once

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/simd/dot_tiles.h"
#include "base/status.h"

namespace burn::backends::cpu {

// On several threads, unless the calling one is at work on a part. T: std::uint16_t for bf16, or float. Requires: m, n
// and k are not 0, alpha is 1 and beta 0. Errors: RESOURCE_EXHAUSTED, then something may have been written.
template <typename T>
Status multiply_by_tiles(const DotTiles& tiles, const Product<T>& product);

}  // namespace burn::backends::cpu
