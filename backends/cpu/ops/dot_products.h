// Products of bf16 by the processor's own instructions for them (backends/cpu/isa/dot_tiles.h). Every thread packs what
// its part of the result needs and multiplies it from its own cache. Sums are f32, of 32 of the depth at a time in the
// instructions' own order, and rounded once at the end; denormal numbers count as 0.
#pragma once

#include "backends/cpu/isa/dot_tiles.h"
#include "backends/cpu/ops/half_products.h"

namespace burn::backends::cpu {

// On several threads, unless the calling one is at work on a part. Of bf16. Requires: m, n and k are not 0. Errors:
// RESOURCE_EXHAUSTED, then something may have been written.
Status multiply_by_tiles(const DotTiles& tiles, const HalfProduct& product);

}  // namespace burn::backends::cpu
