// Convolution and its adjoints: by cuDNN, or by plain kernels if cuDNN is missing or does not support them.
#include "backends/cuda/lower/conv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/cuda/device/device.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/libraries/cudnn.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"
#include "backends/cuda/lower/target.h"

namespace burn::backends::cuda {
namespace {

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
  const auto shape = conv_shape(p, first, second, result);
  const KernelSource source{
      fmt::format("#include \"backends/cuda/kernels/conv.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(const {0}* first,\n"
                  "    const {0}* second, {0}* result, const __grid_constant__ ConvShape shape) {{\n"
                  "  {1}(first, second, result, shape);\n"
                  "}}\n",
                  storage_type(p.dtype), kernel_of(p.direction))};
  const std::int64_t threads = p.direction == ConvDirection::weight_grad ? 32 : 1;  // threads per result
  emit.launch(source, {.blocks = divide_up(shape.count, kThreads / threads), .threads = kThreads},
              {first, second, result, shape});
}

// --- by the library --------------------------------------------------------------------------------------------------

Status convolve_by(Emitter& emit, const std::shared_ptr<const PreparedConv>& prepared, View first, View second,
                   const View& result) {
  first = emit.contiguous(first);
  second = emit.contiguous(second);
  const auto bytes = prepared->workspace_bytes();
  const Address workspace = bytes > 0 ? emit.scratch(bytes) : result.address;  // unused in the latter case
  emit.call([prepared, a = first.address, b = second.address, c = result.address, workspace](const Bindings& bindings,
                                                                                             CUstream stream) {
    return prepared->run(bindings.at(a), bindings.at(b), bindings.at(c), bindings.at(workspace), stream);
  });
  return {};
}

std::string key_of(const ConvProblem& p) {
  const auto list = [](const auto& of) { return fmt::format("{}", fmt::join(of.begin(), of.end(), "x")); };
  const auto type = p.tf32 ? std::string_view("tf32") : ir::name(p.dtype);
  return fmt::format("conv {} {} {} {} {} {} {} {} {}", kernel_of(p.direction), type, list(p.input), list(p.weight),
                     list(p.stride), list(p.pad_begin), list(p.pad_end), list(p.dilation), p.groups);
}

Status convolve(Emitter& emit, ConvProblem problem, const NodeInPlan& at) {
  problem.tf32 = problem.dtype == ir::DType::f32 && emit.allows_tf32();
  const View operands[] = {emit.read(at.operand(0)), emit.read(at.operand(1))};
  const View result = emit.result(at.result());
  if (result.num_elements() == 0) return {};
  std::vector<Alternative> ways;
  if (const auto library = device_of(emit).cudnn(); library.ok()) {
    if (const auto prepared = (*library)->prepare(problem); prepared.ok()) {
      for (const auto& one : *prepared) {
        ways.push_back({one->name(), [one](Emitter& to, std::span<const View> from, std::span<const View> into) {
                          return convolve_by(to, one, from[0], from[1], into[0]);
                        }});
      }
    }
  }
  if (auto own = conv_of_few_channels(problem)) ways.push_back(*std::move(own));
  if (ways.empty()) {
    convolve_plainly(emit, problem, operands[0], operands[1], result);
    return {};
  }
  return emit_fastest(emit, key_of(problem), operands, {&result, 1}, ways);
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
