// Convolution and its adjoints: by cuDNN, or by plain kernels where that is missing or does not take them.
#include <fmt/format.h>

#include "backends/cuda/cudnn.h"
#include "backends/cuda/device.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::ConvShape;
using burn::cuda::kThreads;

template <typename Op>
ConvProblem problem_of(ConvDirection direction, const Op& op, const ir::TensorType& input, const ir::Shape& weight,
                       const ir::Shape& output) {
  return {.direction = direction,
          .dtype = input.dtype,
          .input = input.shape,
          .weight = weight,
          .output = output,
          .stride = op.stride,
          .pad_begin = op.pad_begin,
          .pad_end = op.pad_end,
          .dilation = op.dilation,
          .groups = op.groups};
}

// Strides of [n, c, spatial...] as those of three spatial dims.
void set_strides(std::int64_t (&to)[5], const ir::Dims& strides) {
  to[0] = strides[0];
  to[1] = strides[1];
  for (int i = 2; i < strides.rank(); ++i) to[5 - strides.rank() + i] = strides[i];
}

ConvShape shape_of(const ConvProblem& p, const View& first, const View& second, const View& result) {
  ConvShape shape;
  shape.count = result.num_elements();
  shape.batch = p.input[0];
  shape.groups = p.groups;
  shape.in_per_group = p.weight[1];
  shape.out_per_group = p.weight[0] / p.groups;
  const int spatial = p.stride.rank();
  for (int i = 0; i < spatial; ++i) {
    shape.dim[3 - spatial + i] = {p.input[i + 2], p.output[i + 2], p.weight[i + 2],
                                  p.stride[i],    p.pad_begin[i],  p.dilation[i]};
  }
  set_strides(shape.first, first.strides);
  set_strides(shape.second, second.strides);
  return shape;
}

const char* kernel_of(ConvDirection direction) {
  switch (direction) {
    case ConvDirection::forward:
      return "conv";
    case ConvDirection::input_grad:
      return "conv_input_grad";
    case ConvDirection::weight_grad:
      return "conv_weight_grad";
  }
  return "";
}

void convolve_plainly(Emitter& emit, const ConvProblem& p, const View& first, const View& second, const View& result) {
  const auto shape = shape_of(p, first, second, result);
  const KernelSource source{
      fmt::format("#include \"backends/cuda/kernels/conv.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(const {0}* first,\n"
                  "    const {0}* second, {0}* result, const __grid_constant__ ConvShape shape) {{\n"
                  "  {1}(first, second, result, shape);\n"
                  "}}\n",
                  storage_type(p.dtype), kernel_of(p.direction))};
  const std::int64_t threads = p.direction == ConvDirection::weight_grad ? 32 : 1;  // of a result
  emit.launch(source, {.blocks = divide_up(shape.count, kThreads / threads), .threads = kThreads},
              {first, second, result, shape});
}

Result<std::shared_ptr<const PreparedConv>> prepare(Emitter& emit, const ConvProblem& problem) {
  BURN_TRY(auto* library, emit.device().cudnn());
  return library->prepare(problem);
}

Status convolve(Emitter& emit, const ConvProblem& problem, const NodeInPlan& at) {
  View first = emit.read(at.operand(0)), second = emit.read(at.operand(1));
  const View result = emit.result(at.result());
  if (result.num_elements() == 0) return {};
  const auto prepared = prepare(emit, problem);
  if (!prepared.ok()) {
    convolve_plainly(emit, problem, first, second, result);
    return {};
  }
  first = emit.contiguous(first);
  second = emit.contiguous(second);
  const auto bytes = (*prepared)->workspace_bytes();
  const Address workspace = bytes > 0 ? emit.scratch(bytes) : result.address;  // unused in the latter case
  emit.call([prepared = *prepared, a = first.address, b = second.address, c = result.address, workspace](
                const Bindings& bindings, CUstream stream) {
    return prepared->run(bindings.at(a), bindings.at(b), bindings.at(c), bindings.at(workspace), stream);
  });
  return {};
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Conv& op, const NodeInPlan& at) {
  const auto &x = emit.type_of(at.operand(0)), &weight = emit.type_of(at.operand(1)), &y = emit.type_of(at.result());
  return convolve(emit, problem_of(ConvDirection::forward, op, x, weight.shape, y.shape), at);
}

Status lower(Emitter& emit, const ir::ConvInputGrad& op, const NodeInPlan& at) {
  const auto &grad = emit.type_of(at.operand(0)), &weight = emit.type_of(at.operand(1)), &x = emit.type_of(at.result());
  return convolve(emit, problem_of(ConvDirection::input_grad, op, x, weight.shape, grad.shape), at);
}

Status lower(Emitter& emit, const ir::ConvWeightGrad& op, const NodeInPlan& at) {
  const auto &x = emit.type_of(at.operand(0)), &grad = emit.type_of(at.operand(1)), &weight = emit.type_of(at.result());
  return convolve(emit, problem_of(ConvDirection::weight_grad, op, x, weight.shape, grad.shape), at);
}

}  // namespace lowering
}  // namespace burn::backends::cuda
