// Sort and TopK.
#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::kThreads;
using burn::cuda::SortShape;

// The same as in kernels/sort.h.
constexpr std::int64_t kSortTile = 2048;
constexpr std::int64_t kMergeTile = 1024;
constexpr std::int64_t kFewKept = kSortTile / 8;  // kept elements per tile up to which tiles soon become few
constexpr std::int64_t kLongest = 0xfffffffe;     // an entry's position has 32 bits, and one value marks the end

constexpr std::uint64_t kNull = 0;

struct Sorting {
  View x, values, places;
  Loops<2> lines;  // strides of x, of the results
  bool descending = false;
  SortShape shape;  // of the whole lines; `kept`: results per line

  std::size_t entry_bytes() const { return ir::size_of(x.dtype) == 8 ? 16 : 8; }
  Address entries(Emitter& emit, std::int64_t per_line) const {
    return emit.scratch(static_cast<std::size_t>(shape.lines * per_line) * entry_bytes());
  }
};

std::string kernel_text(const std::string& parameters, const std::string& call) {
  return fmt::format(
      "#include \"backends/cuda/kernels/sort.h\"\n"
      "using namespace burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel({}) {{\n"
      "  {};\n"
      "}}\n",
      parameters, call);
}

// Sorts tiles of the elements, or of `source` if that is not null, and writes them to `kept`, or else to the results.
void sort_tiles(Emitter& emit, const Sorting& s, const SortShape& shape, const Argument& source, const Argument& kept) {
  const auto* type = storage_type(s.x.dtype);
  emit.launch({kernel_text(fmt::format("const {0}* x, const entry_t<{0}>* source, entry_t<{0}>* kept, {0}* values,\n"
                                       "    std::int64_t* places, const __grid_constant__ Walk<2> lines,\n"
                                       "    const __grid_constant__ SortShape shape",
                                       type),
                           fmt::format("sort_tiles<{}, {}>(x, source, kept, values, places, lines, shape)", type,
                                       s.descending))},
              {.blocks = divide_up(shape.lines * shape.tiles, shape.block / shape.tile), .threads = kThreads},
              {s.x, source, kept, s.values, s.places, walk_of(s.lines), shape});
}

SortShape in_tiles(SortShape shape, std::int64_t size, std::int64_t kept) {
  shape.size = size;
  shape.tile = static_cast<int>(std::min(kSortTile, std::max<std::int64_t>(power_of_two_from(size), 2)));
  shape.block = std::max(shape.tile, 2 * kThreads);
  shape.tiles = divide_up(size, shape.tile);
  shape.kept = std::min<std::int64_t>(kept, shape.tile);
  shape.kept_size = (shape.tiles - 1) * shape.kept + std::min(shape.kept, size - (shape.tiles - 1) * shape.tile);
  return shape;
}

// The first elements of a line are among the first ones of their tiles: repeatedly keeps only those, until one tile is
// left.
void keep_first(Emitter& emit, const Sorting& s) {
  auto shape = in_tiles(s.shape, s.shape.size, s.shape.kept);
  Argument source = kNull;
  while (shape.tiles > 1) {
    const Address kept = s.entries(emit, shape.kept_size);
    sort_tiles(emit, s, shape, source, kept);
    source = kept;
    shape = in_tiles(shape, shape.kept_size, s.shape.kept);
  }
  sort_tiles(emit, s, shape, source, kNull);
}

void merge_all(Emitter& emit, const Sorting& s) {
  auto shape = in_tiles(s.shape, s.shape.size, kSortTile);
  Address from = s.entries(emit, shape.size), to = s.entries(emit, shape.size);
  sort_tiles(emit, s, shape, kNull, from);
  const auto* type = storage_type(s.x.dtype);
  const KernelSource merge{kernel_text(
      fmt::format("const entry_t<{0}>* from, entry_t<{0}>* to, const __grid_constant__ SortShape shape", type),
      "merge_runs(from, to, shape)")};
  shape.tiles = divide_up(shape.size, kMergeTile);
  for (shape.run = kSortTile; shape.run < shape.size; shape.run *= 2) {
    emit.launch(merge, {.blocks = shape.lines * shape.tiles, .threads = kThreads}, {from, to, shape});
    std::swap(from, to);
  }
  shape.kept = s.shape.kept;
  emit.launch(
      {kernel_text(fmt::format("const {0}* x, const entry_t<{0}>* entries, {0}* values, std::int64_t* places,\n"
                               "    const __grid_constant__ Walk<2> lines, const __grid_constant__ SortShape shape",
                               type),
                   "store_sorted(x, entries, values, places, lines, shape)")},
      {.blocks = divide_up(shape.lines * shape.kept, kThreads), .threads = kThreads},
      {s.x, from, s.values, s.places, walk_of(s.lines), shape});
}

// Writes the first elements of every line in order, as many as the results have.
Status sort(Emitter& emit, const NodeInPlan& at, int axis, bool descending) {
  Sorting s{emit.read(at.operand(0)), emit.result(at.result(0)), emit.result(at.result(1)), {}, descending, {}};
  if (s.values.num_elements() == 0) return {};
  if (s.x.shape[axis] > kLongest)
    return unimplemented(
        fmt::format("CUDA: sorting {} elements in a line; {} are the most", s.x.shape[axis], kLongest));
  s.lines = loops_over<2>(s.x.shape, {&s.x.strides, &s.values.strides});
  s.lines.erase(s.lines.begin() + axis);
  s.lines = merged(s.lines);
  s.shape.lines = count_of(s.lines);
  s.shape.size = s.x.shape[axis];
  s.shape.from_step = s.x.strides[axis];
  s.shape.to_step = s.values.strides[axis];
  s.shape.kept = s.values.shape[axis];
  if (s.shape.size <= kSortTile || s.shape.kept <= kFewKept)
    keep_first(emit, s);
  else
    merge_all(emit, s);
  return {};
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Sort& op, const NodeInPlan& at) {
  return sort(emit, at, static_cast<int>(op.axis), op.descending);
}

Status lower(Emitter& emit, const ir::TopK& op, const NodeInPlan& at) {
  return sort(emit, at, static_cast<int>(op.axis), op.largest);
}

}  // namespace lowering
}  // namespace burn::backends::cuda
