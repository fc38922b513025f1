#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::kThreads;
using burn::cuda::ResizeShape;

// `input` and `output`: of the forward op; `from` is the one of them that is read. Images without a height have one
// row.
template <typename Op>
Status launch(Emitter& emit, const char* name, const Op& op, const View& from, const View& to, const ir::Shape& input,
              const ir::Shape& output) {
  if (to.num_elements() == 0) return {};
  ResizeShape shape;
  shape.count = to.num_elements();
  shape.channels = to.shape[1];
  shape.strides[0] = from.strides[0], shape.strides[1] = from.strides[1];
  const int spatial = input.rank() - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = 2 - spatial + i;
    shape.input[dim] = input[i + 2];
    shape.output[dim] = output[i + 2];
    shape.strides[dim + 2] = from.strides[i + 2];
  }
  const auto text = fmt::format(
      "#include \"backends/cuda/kernels/interpolate.h\"\n"
      "using namespace burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(const {0}* from, {0}* to,\n"
      "    const __grid_constant__ ResizeShape shape) {{\n"
      "  {1}<static_cast<burn::ir::InterpolateMode>({2}), {3}>(from, to, shape);\n"
      "}}\n",
      storage_type(to.dtype), name, static_cast<int>(op.mode), op.align_corners);
  emit.launch({text}, {.blocks = divide_up(shape.count, kThreads), .threads = kThreads}, {from, to, shape});
  return {};
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Interpolate& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  return launch(emit, "interpolate", op, x, y, x.shape, y.shape);
}

Status lower(Emitter& emit, const ir::InterpolateGrad& op, const NodeInPlan& at) {
  const View grad = emit.read(at.operand(0)), x = emit.result(at.result());
  return launch(emit, "interpolate_grad", op, grad, x, x.shape, grad.shape);
}

}  // namespace lowering
}  // namespace burn::backends::cuda
