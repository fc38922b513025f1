#include <algorithm>

#include <fmt/format.h>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/product.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::ColumnsShape;
using burn::cuda::kThreads;
using burn::cuda::RowsShape;

constexpr std::int64_t kManyBlocks = 2048;  // enough to keep a GPU busy, with a short tail
constexpr std::int64_t kPerThread = 8;      // minimum packs per thread of a part
constexpr std::int64_t kWarp = 32;

// A reduction as loops, which may be sorted into the order that is best to read.
struct Reduction {
  ir::ReduceFn fn = ir::ReduceFn::sum;
  Address from, to;
  ir::DType from_dtype = ir::DType::f32, to_dtype = ir::DType::f32;
  Loops<2> kept;     // strides of x, of y
  Loops<1> reduced;  // strides of x

  std::int64_t element_bytes() const { return static_cast<std::int64_t>(ir::size_of(from_dtype)); }
};

Reduction sorted(Reduction r) {
  r.kept = merged(r.kept);
  r.reduced = merged(r.reduced);
  sort_by_distance(r.kept);
  sort_by_distance(r.reduced);
  r.kept = merged(r.kept);
  r.reduced = merged(r.reduced);
  if (count_of(r.reduced) == 0) r.reduced = {{0, {1}}};
  if (r.reduced.empty()) r.reduced = {{1, {1}}};
  return r;
}

// The most elements that one load of at most 16 bytes can read such that `fits(width)`.
template <typename Fits>
std::int64_t widest(const Reduction& r, const Fits& fits) {
  const auto bytes = r.element_bytes();
  for (std::int64_t width = 16 / bytes; width > 1; width /= 2) {
    if (is_aligned(r.from, width * bytes) && fits(width)) return width;
  }
  return 1;
}

// Whether steps along the loops stay aligned to packs.
template <int kValues>
bool keeps_to_packs(const Loops<kValues>& loops, std::int64_t width) {
  return std::ranges::all_of(loops, [&](const auto& loop) { return loop.strides[0] % width == 0; });
}

KernelSource source_of(const Reduction& r, const char* kernel, const char* shape, std::int64_t width) {
  const auto *from = storage_type(r.from_dtype), *to = storage_type(r.to_dtype);
  return {
      fmt::format("#include \"backends/cuda/kernels/reduce.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(\n"
                  "    const {0}* x, {1}* y, const __grid_constant__ Walk<2> kept,\n"
                  "    const __grid_constant__ Walk<1> reduced, const __grid_constant__ {2} shape) {{\n"
                  "  {3}<{0}, {1}, {4}, {5}, {6}>(x, y, kept, reduced, shape);\n"
                  "}}\n",
                  from, to, shape, kernel, combine_type(r.fn), width, r.reduced.size() == 1)};
}

void reduce(Emitter& emit, const Reduction& unsorted);

// The reduction to one result per part, in scratch memory, in the compute type.
Reduction into_parts(Emitter& emit, const Reduction& r, std::int64_t parts) {
  Reduction first = r;
  first.to_dtype = ir::is_integer(r.to_dtype) ? r.to_dtype : ir::compute_dtype(r.from_dtype);
  const auto count = static_cast<std::size_t>(count_of(r.kept) * parts);
  first.to = emit.scratch(count * ir::size_of(first.to_dtype));
  return first;
}

// The reduction of the `parts` results of each output, which have these strides.
Reduction of_parts(const Reduction& r, const Reduction& first, std::int64_t parts, std::int64_t output_stride,
                   std::int64_t part_stride) {
  Reduction second = r;
  second.from = first.to;
  second.from_dtype = first.to_dtype;
  second.kept = {{count_of(r.kept), {output_stride, 1}}};  // results are row-major
  second.reduced = {{parts, {part_stride}}};
  return second;
}

void reduce_rows(Emitter& emit, const Reduction& r) {
  const Loop<1> inner = r.reduced.back();
  const Loops<1> outer(r.reduced.begin(), r.reduced.end() - 1);
  const auto width = widest(r, [&](std::int64_t w) {
    const bool whole = outer.empty() ? inner.size >= w : inner.size % w == 0;
    return inner.strides[0] == 1 && whole && keeps_to_packs(r.kept, w) && keeps_to_packs(outer, w);
  });
  auto packs = r.reduced;
  packs.back() = {inner.size / width, {inner.strides[0] * width}};

  RowsShape shape;
  shape.outputs = count_of(r.kept);
  shape.packs = count_of(packs);
  shape.tail = inner.size % width;
  shape.tail_at = inner.size - shape.tail;
  shape.group = static_cast<int>(std::clamp<std::int64_t>(power_of_two_from(shape.packs / 4), 1, kWarp));
  const bool few = divide_up(shape.outputs, kThreads / shape.group) < kManyBlocks / 4;
  if (shape.packs >= (few ? kThreads : kThreads * kPerThread)) shape.group = kThreads;
  const auto blocks = divide_up(shape.outputs, kThreads / shape.group);
  std::int64_t parts = 1;
  if (shape.group == kThreads && blocks < kManyBlocks) {
    parts = std::min(shape.packs / (kThreads * kPerThread), divide_up(kManyBlocks, blocks));
    parts = std::max<std::int64_t>(parts, 1);
  }
  shape.per_part = divide_up(shape.packs, parts);

  auto first = parts > 1 ? into_parts(emit, r, parts) : r;
  if (parts > 1) {
    shape.part_step = 1;
    for (auto& loop : first.kept) loop.strides[1] *= parts;
  }
  emit.launch(source_of(first, "reduce_rows", "RowsShape", width),
              {.blocks = blocks, .threads = kThreads, .blocks_y = parts},
              {first.from, first.to, walk_of(first.kept), walk_of(packs), shape});
  if (parts > 1) reduce(emit, of_parts(r, first, parts, parts, 1));
}

void reduce_columns(Emitter& emit, const Reduction& r) {
  const Loop<2> inner = r.kept.back();
  const Loops<2> outer(r.kept.begin(), r.kept.end() - 1);
  const auto width = widest(r, [&](std::int64_t w) {
    return inner.strides[0] == 1 && inner.size % w == 0 && keeps_to_packs(outer, w) && keeps_to_packs(r.reduced, w);
  });
  ColumnsShape shape;
  shape.packs = count_of(r.kept) / width;
  shape.rows = count_of(r.reduced);
  const auto rows_at_once = std::clamp<std::int64_t>(power_of_two_from(shape.rows / 4), 1, kThreads / kWarp);
  shape.width = static_cast<int>(std::min(kThreads / rows_at_once, power_of_two_from(shape.packs)));
  const auto blocks = divide_up(shape.packs, shape.width);
  std::int64_t parts = 1;
  if (blocks < kManyBlocks) {
    parts = std::min(shape.rows / (kThreads / shape.width * kPerThread), divide_up(kManyBlocks, blocks));
    parts = std::max<std::int64_t>(parts, 1);
  }
  shape.per_part = divide_up(shape.rows, parts);

  auto first = parts > 1 ? into_parts(emit, r, parts) : r;
  const auto outputs = count_of(r.kept);
  shape.part_step = parts > 1 ? outputs : 0;
  shape.result_step = inner.strides[1];
  first.kept.back() = {inner.size / width, {inner.strides[0] * width, inner.strides[1] * width}};
  emit.launch(source_of(first, "reduce_columns", "ColumnsShape", width),
              {.blocks = blocks, .threads = kThreads, .blocks_y = parts},
              {first.from, first.to, walk_of(first.kept), walk_of(r.reduced), shape});
  if (parts > 1) reduce(emit, of_parts(r, first, parts, 1, outputs));
}

// Threads run over what is closest in memory: elements of one output, or outputs.
void reduce(Emitter& emit, const Reduction& unsorted) {
  const auto r = sorted(unsorted);
  if (count_of(r.kept) == 0) return;
  const bool by_rows = r.kept.empty() || count_of(r.reduced) == 0 ||
                       distance_of(r.reduced.back().strides[0]) <= distance_of(r.kept.back().strides[0]);
  if (by_rows)
    reduce_rows(emit, r);
  else
    reduce_columns(emit, r);
}

}  // namespace

Status reduce(Emitter& emit, const ir::Reduce& op, const View& x, const View& y) {
  if (y.num_elements() == 0) return {};
  Reduction r{op.fn, x.address, y.address, x.dtype, y.dtype, {}, {}};
  for (int d = 0; d < x.rank(); ++d) {
    if (op.axes.contains(d))
      r.reduced.push_back({x.shape[d], {x.strides[d]}});
    else
      r.kept.push_back({x.shape[d], {x.strides[d], y.strides[d]}});
  }
  reduce(emit, r);
  return {};
}

namespace lowering {

Status lower(Emitter& emit, const ir::Reduce& op, const NodeInPlan& at) {
  const auto x = emit.read(at.operand(0));
  return reduce(emit, op, x, emit.result(at.result()));
}

}  // namespace lowering
}  // namespace burn::backends::cuda
