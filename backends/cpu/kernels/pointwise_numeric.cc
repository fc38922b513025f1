#include "backends/cpu/simd/formulas.h"
#include "backends/cpu/simd/pointwise_table.h"

namespace burn::backends::cpu {
namespace {

constexpr bool compiled_here(ir::PointwiseClass kind) {
  return kind == ir::PointwiseClass::numeric || kind == ir::PointwiseClass::integral;
}

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/simd/pointwise_loops.h"
#include "backends/cpu/simd/foreach.h"

namespace burn::backends::cpu {

RunLoop numeric_loop(ir::PointwiseFn fn, ir::DType dtype) { return BURN_BEST(find_loop)(fn, dtype); }

}  // namespace burn::backends::cpu
