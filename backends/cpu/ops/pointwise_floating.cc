#include "backends/cpu/isa/formulas.h"
#include "backends/cpu/ops/pointwise_loops.h"

namespace burn::backends::cpu {
namespace {

constexpr bool compiled_here(ir::PointwiseClass kind) {
  return kind == ir::PointwiseClass::floating || kind == ir::PointwiseClass::test;
}

}  // namespace
}  // namespace burn::backends::cpu

#define BURN_ISA_FILE "backends/cpu/isa/pointwise_loops.h"
#include "backends/cpu/isa/foreach.h"

namespace burn::backends::cpu {

RunLoop floating_loop(ir::PointwiseFn fn, ir::DType dtype) { return BURN_BEST(find_loop)(fn, dtype); }

}  // namespace burn::backends::cpu
