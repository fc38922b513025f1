#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/device/device.h"
#include "backends/cuda/lower/conv.h"
#include "backends/cuda/lower/strided.h"
#include "backends/cuda/lower/target.h"

namespace burn::backends::cuda {

using burn::cuda::ConvShape;
using burn::cuda::kThreads;

namespace {

// Converts strides of [n, c, spatial...] to those of three spatial dims.
void set_strides(std::int64_t (&to)[5], const ir::Dims& strides) {
  to[0] = strides[0];
  to[1] = strides[1];
  for (int i = 2; i < strides.rank(); ++i) to[5 - strides.rank() + i] = strides[i];
}

// A kernel of one of the conv headers in kernels/.
KernelSource kernel(const char* header, const char* bounds, const std::string& parameters, const std::string& call) {
  return {
      fmt::format("#include \"backends/cuda/kernels/{}.h\"\nusing namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__({}) burn_kernel({}) {{\n  {};\n}}\n",
                  header, bounds, parameters, call)};
}

std::size_t compute_size(ir::DType dtype) { return dtype == ir::DType::f64 ? sizeof(double) : sizeof(float); }

std::int64_t taps_of(const ConvProblem& p) { return ir::num_elements(p.weight) / (p.weight[0] * p.weight[1]); }

// --- gradients in weights --------------------------------------------------------------------------------------------

// Output channels of a block: as many as a thread can keep the sums of in registers. 0: there are too many taps.
std::int64_t weight_grad_tile(const ConvProblem& p) {
  constexpr std::int64_t kMaxSums = 96;
  const auto most = p.dtype == ir::DType::f64 ? kMaxSums / 2 : kMaxSums;
  const auto out = p.weight[0] / p.groups, taps = taps_of(p);
  std::int64_t tile = 16;
  while (tile > 1 && (tile * taps > most || tile / 2 >= out)) tile /= 2;
  return tile * taps <= most ? tile : 0;
}

bool fits_tiles(const ConvProblem& p) {
  constexpr std::int64_t kMaxPairs = 4096;  // pairs of an input and an output channel
  return weight_grad_tile(p) > 0 && p.input[1] * (p.weight[0] / p.groups) <= kMaxPairs;
}

Status weight_grad_by_tiles(Emitter& emit, const ConvProblem& p, const View& x, const View& grad, const View& result) {
  const auto shape = conv_shape(p, x, grad, result);
  const auto tile = weight_grad_tile(p);
  const auto channels = p.input[1] * divide_up(shape.out_per_group, tile);
  // Splits long columns until every multiprocessor has four blocks.
  const auto &high = shape.dim[1], &wide = shape.dim[2];
  std::int64_t rows = high.output;
  const auto parts_of = [&](std::int64_t each) {
    return divide_up(shape.batch * wide.output * divide_up(high.output, each), kThreads);
  };
  while (rows > 4 && parts_of(rows) * channels < std::int64_t{4} * device_of(emit).multiprocessors())
    rows = divide_up(rows, 2);
  const auto parts = parts_of(rows);
  const bool slides = high.stride == 1 && high.dilation == 1;
  const char* type = storage_type(p.dtype);
  const Address partial = emit.scratch(static_cast<std::size_t>(parts * shape.count) * compute_size(p.dtype));
  emit.launch(kernel("conv_weight", "kThreads, 2",
                     fmt::format("const {0}* x, const {0}* grad, compute_t<{0}>* partial, const __grid_constant__ "
                                 "ConvShape shape, int rows",
                                 type),
                     fmt::format("conv_weight_grad_tiles<{}, {}, {}, {}, {}>(x, grad, partial, shape, rows)", type,
                                 tile, high.kernel, wide.kernel, slides)),
              {.blocks = parts, .threads = kThreads, .blocks_y = channels},
              {x, grad, partial, shape, static_cast<int>(rows)});
  emit.launch(
      kernel("conv_weight", "kThreads",
             fmt::format("const compute_t<{0}>* partial, {0}* result, std::int64_t count, std::int64_t parts", type),
             fmt::format("add_parts<{}>(partial, result, count, parts)", type)),
      {.blocks = divide_up(shape.count, kThreads / 8), .threads = kThreads}, {partial, result, shape.count, parts});
  return {};
}

// --- convolutions, and gradients in inputs, which are convolutions of the gradient with flipped weights -------------

std::int64_t direct_tile(std::int64_t out) { return out > 8 ? 16 : out > 4 ? 8 : 4; }

bool fits_direct(const ConvProblem& p) {
  constexpr std::size_t kMaxShared = 48 << 10;
  const bool is_forward = p.direction == ConvDirection::forward;
  const auto in = p.weight[is_forward ? 1 : 0], out = p.weight[is_forward ? 0 : 1];
  const auto shared = static_cast<std::size_t>(in * taps_of(p) * direct_tile(out)) * compute_size(p.dtype);
  const bool has_steps = std::ranges::any_of(p.stride, [](auto step) { return step != 1; });
  return p.groups == 1 && taps_of(p) <= 49 && shared <= kMaxShared && (is_forward || !has_steps);
}

Status conv_directly(Emitter& emit, const ConvProblem& p, const View& x, const View& weight, const View& result) {
  const bool is_forward = p.direction == ConvDirection::forward;
  auto shape = conv_shape(p, x, weight, result);
  if (!is_forward) {
    std::swap(shape.in_per_group, shape.out_per_group);
    std::swap(shape.second[0], shape.second[1]);
    for (auto& dim : shape.dim) {
      std::swap(dim.input, dim.output);
      dim.padding = dim.dilation * (dim.kernel - 1) - dim.padding;
    }
  }
  const auto tile = direct_tile(shape.out_per_group), tiles = divide_up(shape.out_per_group, tile);
  const auto places = shape.batch * shape.dim[1].output * shape.dim[2].output;
  // Positions per thread, which is how often each weight that it reads is used. Reduced if there would be too few
  // blocks.
  std::int64_t each = p.dtype == ir::DType::f64 ? 2 : 4;
  while (each > 1 && divide_up(places, each * kThreads) * tiles < std::int64_t{2} * device_of(emit).multiprocessors())
    each /= 2;
  const char* type = storage_type(p.dtype);
  const auto taps = shape.dim[1].kernel * shape.dim[2].kernel;
  emit.launch(
      kernel("conv_direct", "kThreads",
             fmt::format("const {0}* x, const {0}* weight, {0}* y, const __grid_constant__ ConvShape shape", type),
             fmt::format("conv_direct<{}, {}, {}, {}, {}, {}>(x, weight, y, shape)", type, tile, each,
                         shape.dim[1].kernel, shape.dim[2].kernel, !is_forward)),
      {.blocks = divide_up(places, each * kThreads),
       .threads = kThreads,
       .shared_bytes =
           static_cast<int>(static_cast<std::size_t>(shape.in_per_group * taps * tile) * compute_size(p.dtype)),
       .blocks_y = tiles},
      {x, weight, result, shape});
  return {};
}

}  // namespace

ConvShape conv_shape(const ConvProblem& p, const View& first, const View& second, const View& result) {
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

std::optional<Alternative> conv_of_few_channels(const ConvProblem& problem) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max() / 2;  // elements: offsets have 32 bits
  const bool has_depth = problem.stride.rank() == 3;
  const bool is_large = ir::num_elements(problem.input) > kMax || ir::num_elements(problem.output) > kMax;
  if (has_depth || is_large || ir::num_elements(problem.output) == 0 || ir::num_elements(problem.input) == 0)
    return std::nullopt;
  if (problem.direction == ConvDirection::weight_grad) {
    if (!fits_tiles(problem)) return std::nullopt;
    return Alternative{"tiles",
                       [problem](Emitter& emit, std::span<const View> operands, std::span<const View> results) {
                         return weight_grad_by_tiles(emit, problem, operands[0], operands[1], results[0]);
                       }};
  }
  if (!fits_direct(problem)) return std::nullopt;
  return Alternative{"direct", [problem](Emitter& emit, std::span<const View> operands, std::span<const View> results) {
                       return conv_directly(emit, problem, operands[0], operands[1], results[0]);
                     }};
}

}  // namespace burn::backends::cuda
