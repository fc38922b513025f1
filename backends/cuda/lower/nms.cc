// Nms.
#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::kThreads;
using burn::cuda::NmsShape;

KernelSource source_of(const char* function, ir::DType dtype) {
  return {
      fmt::format("#include \"backends/cuda/kernels/nms.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(\n"
                  "    const {0}* x, bool* kept, const __grid_constant__ NmsShape shape) {{\n"
                  "  {1}<{0}>(x, kept, shape);\n"
                  "}}\n",
                  storage_type(dtype), function)};
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Nms& op, const NodeInPlan& at) {
  const View kept = emit.result(at.result());
  if (kept.num_elements() == 0) return {};
  const View boxes = emit.contiguous(emit.read(at.operand(0)));
  NmsShape shape;
  shape.size = kept.shape[kept.rank() - 1];
  shape.lists = kept.num_elements() / shape.size;
  shape.threshold = op.iou_threshold;
  const auto resolve = source_of("resolve_tile", boxes.dtype), suppress = source_of("suppress_behind", boxes.dtype);
  for (; shape.begin < shape.size; shape.begin += kThreads) {
    emit.launch(resolve, {.blocks = shape.lists, .threads = kThreads}, {boxes, kept, shape});
    const auto behind = shape.size - (shape.begin + kThreads);
    if (behind <= 0) break;
    emit.launch(suppress, {.blocks = shape.lists * divide_up(behind, kThreads), .threads = kThreads},
                {boxes, kept, shape});
  }
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
