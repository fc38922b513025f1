#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::kThreads;
using burn::cuda::PoolShape;
using burn::cuda::WindowDim;

std::string kernel_text(const std::string& parameters, const std::string& call) {
  return fmt::format(
      "#include \"backends/cuda/kernels/windows.h\"\n"
      "using namespace burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel({},\n"
      "    const __grid_constant__ PoolShape shape) {{\n"
      "  {};\n"
      "}}\n",
      parameters, call);
}

// `input` and `output`: [n, c, spatial...]; `operand`: the one of them that is read. Spatial dims are the last of
// three.
PoolShape shape_of(const View& operand, const ir::Shape& input, const ir::Shape& output, std::int64_t count) {
  PoolShape shape;
  shape.count = count;
  shape.channels = input[1];
  shape.strides[0] = operand.strides[0];
  shape.strides[1] = operand.strides[1];
  const int spatial = input.rank() - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = 3 - spatial + i;
    shape.dim[dim].input = input[i + 2];
    shape.dim[dim].output = output[i + 2];
    shape.strides[dim + 2] = operand.strides[i + 2];
  }
  return shape;
}

template <typename Op>
void set_windows(PoolShape& shape, const Op& op) {
  const int spatial = op.kernel.rank();
  for (int i = 0; i < spatial; ++i) {
    WindowDim& dim = shape.dim[3 - spatial + i];
    dim.kernel = op.kernel[i];
    dim.stride = op.stride[i];
    dim.padding = op.padding[i];
    if constexpr (requires { op.dilation; }) dim.dilation = op.dilation[i];
  }
}

// Sets the constants by which kernels divide by these numbers.
void set_dividers(PoolShape& shape) {
  for (int d = 0; d < 3; ++d) {
    shape.input[d] = shape.dim[d].input;
    shape.output[d] = shape.dim[d].output;
    shape.stride[d] = shape.dim[d].stride;
  }
}

// The integer type of the kernels' indices (kernels/windows.h).
const char* index_type(const PoolShape& shape) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const auto is_small = [](const WindowDim& dim) {
    const auto largest = std::max({dim.input, dim.output, dim.kernel, dim.stride, dim.padding}) + 1;
    return largest < (1 << 15);
  };
  return shape.count <= kMax && shape.channels.by <= kMax && std::ranges::all_of(shape.dim, is_small) ? "std::int32_t"
                                                                                                      : "std::int64_t";
}

// `name`: a kernel of the header; `ways`: its type of windows.
Status launch(Emitter& emit, const std::string& name, const char* ways, const View& from, const View& to,
              PoolShape shape) {
  set_dividers(shape);
  const auto* type = storage_type(to.dtype);
  const auto kernel = fmt::format("{}<{}, {}>", name, ways, index_type(shape));
  emit.launch({kernel_text(fmt::format("const {0}* from, {0}* to", type), fmt::format("{}(from, to, shape)", kernel))},
              {.blocks = divide_up(shape.count, kThreads), .threads = kThreads}, {from, to, shape});
  return {};
}

Status launch_max(Emitter& emit, const char* ways, const View& x, const View& y, const View& positions,
                  const PoolShape& shape) {
  const auto* type = storage_type(x.dtype);
  emit.launch({kernel_text(fmt::format("const {0}* x, {0}* y, std::int64_t* positions", type),
                           fmt::format("max_pool<{}>(x, y, positions, shape)", ways))},
              {.blocks = divide_up(shape.count, kThreads), .threads = kThreads}, {x, y, positions, shape});
  return {};
}

const char* sliding(bool counts_padding) { return counts_padding ? "Sliding<true>" : "Sliding<false>"; }

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::AvgPool& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  auto shape = shape_of(x, x.shape, y.shape, y.num_elements());
  set_windows(shape, op);
  return launch(emit, "avg_pool", sliding(op.count_include_pad), x, y, shape);
}

Status lower(Emitter& emit, const ir::AvgPoolGrad& op, const NodeInPlan& at) {
  const View grad = emit.read(at.operand(0)), x = emit.result(at.result());
  if (x.num_elements() == 0) return {};
  auto shape = shape_of(grad, x.shape, grad.shape, x.num_elements());
  set_windows(shape, op);
  return launch(emit, "avg_pool_grad", sliding(op.count_include_pad), grad, x, shape);
}

Status lower(Emitter& emit, const ir::AdaptiveAvgPool&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  return launch(emit, "avg_pool", "Adaptive", x, y, shape_of(x, x.shape, y.shape, y.num_elements()));
}

Status lower(Emitter& emit, const ir::AdaptiveAvgPoolGrad&, const NodeInPlan& at) {
  const View grad = emit.read(at.operand(0)), x = emit.result(at.result());
  if (x.num_elements() == 0) return {};
  return launch(emit, "avg_pool_grad", "Adaptive", grad, x, shape_of(grad, x.shape, grad.shape, x.num_elements()));
}

Status lower(Emitter& emit, const ir::MaxPool& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result(0)), positions = emit.result(at.result(1));
  if (y.num_elements() == 0) return {};
  auto shape = shape_of(x, x.shape, y.shape, y.num_elements());
  set_windows(shape, op);
  return launch_max(emit, "SlidingMax", x, y, positions, shape);
}

Status lower(Emitter& emit, const ir::AdaptiveMaxPool&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result(0)), positions = emit.result(at.result(1));
  if (y.num_elements() == 0) return {};
  return launch_max(emit, "AdaptiveMax", x, y, positions, shape_of(x, x.shape, y.shape, y.num_elements()));
}

}  // namespace lowering
}  // namespace burn::backends::cuda
