#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::ArgShape;
using burn::cuda::kThreads;

constexpr std::int64_t kManyBlocks = 512;
constexpr std::int64_t kPerPart = std::int64_t{kThreads} * 16;  // minimum elements of a line per part

KernelSource source_of(ir::ArgFn fn, ir::DType dtype) {
  return {
      fmt::format("#include \"backends/cuda/kernels/arg_reduce.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(\n"
                  "    const {0}* x, const std::int64_t* indices, std::int64_t* y, {0}* part_values,\n"
                  "    std::int64_t* part_indices, const __grid_constant__ Walk<2> kept,\n"
                  "    const __grid_constant__ ArgShape shape) {{\n"
                  "  arg_reduce<{0}, {1}>(x, indices, y, part_values, part_indices, kept, shape);\n"
                  "}}\n",
                  storage_type(dtype), fn == ir::ArgFn::max)};
}

// Few threads per output if there are many outputs, whose elements are then read by neighbouring threads.
ArgShape shape_of(const Loops<2>& kept, std::int64_t size, std::int64_t step) {
  ArgShape shape;
  shape.outputs = count_of(kept);
  shape.size = shape.per_part = size;
  shape.step = step;
  shape.rows = kept.empty() || distance_of(step) <= distance_of(kept.back().strides[0]) ? 1 : 0;
  const std::int64_t most = shape.rows ? 32 : 8;
  shape.lanes = static_cast<int>(std::min(most, power_of_two_from(divide_up(size, 8))));
  if (divide_up(shape.outputs, kThreads / shape.lanes) < kManyBlocks && size >= kThreads)
    shape.lanes = shape.rows ? kThreads : 32;
  return shape;
}

constexpr std::uint64_t kNull = 0;

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::ArgReduce& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const int axis = static_cast<int>(op.axis);
  Loops<2> kept = loops_over<2>(x.shape, {&x.strides, &y.strides});
  kept.erase(kept.begin() + axis);
  kept = merged(kept);
  ArgShape shape = shape_of(kept, x.shape[axis], x.strides[axis]);
  const auto blocks = divide_up(shape.outputs, kThreads / shape.lanes);
  if (blocks < kManyBlocks)
    shape.parts = std::max<std::int64_t>(std::min(shape.size / kPerPart, divide_up(kManyBlocks, blocks)), 1);
  shape.per_part = divide_up(shape.size, shape.parts);

  const auto source = source_of(op.fn, x.dtype);
  if (shape.parts == 1) {
    emit.launch(source, {.blocks = blocks, .threads = kThreads}, {x, kNull, y, kNull, kNull, walk_of(kept), shape});
    return {};
  }
  const ir::Shape part_shape{shape.outputs, shape.parts};
  const View values = emit.scratch_value({x.dtype, part_shape}),
             indices = emit.scratch_value({ir::DType::i64, part_shape});
  emit.launch(source, {.blocks = blocks, .threads = kThreads, .blocks_y = shape.parts},
              {x, kNull, y, values, indices, walk_of(kept), shape});
  const Loops<2> results{{shape.outputs, {shape.parts, 1}}};
  const ArgShape second = shape_of(results, shape.parts, 1);
  emit.launch(source, {.blocks = divide_up(second.outputs, kThreads / second.lanes), .threads = kThreads},
              {values, indices, y, kNull, kNull, walk_of(results), second});
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
