// Products of bf16 with the processor's instructions for them, and of f32 with AVX-512 (backends/cpu/simd/dot_tiles.h).
// Every thread packs what its part of the result needs and multiplies it from its own cache. Sums are f32: for f32 in
// the order of the depth; for bf16 in the instructions' own order within 32 of the depth, with denormal numbers counted
// as 0, and rounded once at the end.
#pragma once

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/simd/dot_tiles.h"
#include "base/status.h"

namespace burn::backends::cpu {

// On several threads, unless the calling one is running a part already. T: std::uint16_t for bf16, or float. Requires:
// m, n and k are not 0, alpha is 1 and beta 0. Errors: RESOURCE_EXHAUSTED; the result may then be partly written.
template <typename T>
Status multiply_by_tiles(const DotTiles& tiles, const Product<T>& product);

}  // namespace burn::backends::cpu
