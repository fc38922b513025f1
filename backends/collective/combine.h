// The elementwise reductions of collectives.
#pragma once

#include <cstddef>
#include <span>

#include "ir/ops.h"

namespace burn::backends {

// result[i] = sources[0][i], combined with sources[1][i], and so on, in this order, so that any member that combines an
// element gets the same bits. 16-bit floats are combined in f32 and rounded once; integers wrap; NaN wins in max and
// min, which are "any" and "all" for bools. `result` may be one of the sources. `count`: elements.
void combine_in_order(ir::ReduceFn fn, ir::DType dtype, std::span<const std::byte* const> sources, std::byte* result,
                      std::size_t count);

}  // namespace burn::backends
