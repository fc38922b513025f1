#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda::lowering {

Status lower(Emitter& emit, const ir::BandedScan& op, const NodeInPlan& at) {
  const View b = emit.contiguous(emit.read(at.operand(0))), w = emit.contiguous(emit.read(at.operand(1))),
             y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const burn::cuda::LatticeShape shape{
      .rows = y.shape[1], .band = emit.type_of(at.operand(1)).shape[2], .width = y.shape[2]};
  const auto text = fmt::format(
      "#include \"backends/cuda/kernels/banded_scan.h\"\n"
      "using namespace burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(const {0}* b, const {0}* w, {0}* y,\n"
      "    const __grid_constant__ LatticeShape shape) {{\n"
      "  banded_scan<{0}, {1}, {2}>(b, w, y, shape);\n"
      "}}\n",
      storage_type(y.dtype), op.semiring == ir::Semiring::log ? "LogSum" : "LinearSum", op.adjoint);
  emit.launch({text}, {.blocks = y.shape[0], .threads = burn::cuda::kThreads}, {b, w, y, shape});
  return {};
}

}  // namespace burn::backends::cuda::lowering
