#include <fmt/format.h>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::kThreads;
using burn::cuda::ScanShape;

constexpr std::int64_t kManyBlocks = 512;
constexpr std::int64_t kMinPart = std::int64_t{16} * 1024;  // elements per part; parts cost two more launches

struct Scanning {
  ir::ReduceFn fn = ir::ReduceFn::sum;
  ir::DType dtype = ir::DType::f32;

  // Long sums and products of f32, and of 16-bit floats, are computed in f64: their error would grow with the length of
  // the line.
  bool widens() const {
    const bool is_long = fn == ir::ReduceFn::sum || fn == ir::ReduceFn::prod;
    return is_long && ir::compute_dtype(dtype) == ir::DType::f32;
  }
  ir::DType running() const { return widens() ? ir::DType::f64 : ir::compute_dtype(dtype); }
};

KernelSource columns_source(const Scanning& s) {
  return {
      fmt::format("#include \"backends/cuda/kernels/scan.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(\n"
                  "    const {0}* x, {0}* y, const __grid_constant__ Walk<2> lines,\n"
                  "    const __grid_constant__ ScanShape shape) {{\n"
                  "  scan_columns<{0}, {1}, {2}>(x, y, lines, shape);\n"
                  "}}\n",
                  storage_type(s.dtype), storage_type(s.running()), combine_type(s.fn))};
}

KernelSource rows_source(const Scanning& s, bool totals) {
  return {
      fmt::format("#include \"backends/cuda/kernels/scan.h\"\n"
                  "using namespace burn::cuda;\n"
                  "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel(\n"
                  "    const {0}* x, void* y, const {1}* before, const __grid_constant__ Walk<2> lines,\n"
                  "    const __grid_constant__ ScanShape shape) {{\n"
                  "  scan_rows<{0}, {1}, {2}, {3}>(x, y, before, lines, shape);\n"
                  "}}\n",
                  storage_type(s.dtype), storage_type(s.running()), combine_type(s.fn), totals)};
}

constexpr std::uint64_t kNull = 0;

// For few long lines: computes the totals of parts, scans them, and then scans each part from where the previous one
// ended.
void scan_parts(Emitter& emit, const Scanning& s, const View& x, const View& y, const Loops<2>& lines,
                ScanShape shape) {
  shape.per_part = divide_up(shape.size, shape.parts);
  const View totals = emit.scratch_value({s.running(), {shape.lines, shape.parts}}),
             before = emit.scratch_value({s.running(), {shape.lines, shape.parts}});
  const Grid grid{.blocks = shape.lines * shape.parts, .threads = kThreads};
  emit.launch(rows_source(s, true), grid, {x, totals, kNull, walk_of(lines), shape});

  const ScanShape over_parts{shape.lines, shape.parts, 1, 1, 1, shape.parts};
  const Loops<2> of_parts{{shape.lines, {shape.parts, shape.parts}}};
  emit.launch(rows_source({s.fn, s.running()}, false), {.blocks = shape.lines, .threads = kThreads},
              {totals, before, kNull, walk_of(of_parts), over_parts});

  emit.launch(rows_source(s, false), grid, {x, y, before, walk_of(lines), shape});
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Scan& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const int axis = static_cast<int>(op.axis);
  Loops<2> lines = loops_over<2>(x.shape, {&x.strides, &y.strides});
  lines.erase(lines.begin() + axis);
  lines = merged(lines);
  ScanShape shape;
  shape.lines = count_of(lines);
  shape.size = shape.per_part = x.shape[axis];
  shape.from_step = x.strides[axis];
  shape.to_step = y.strides[axis];
  const Scanning s{op.fn, x.dtype};

  // A product of a part may overflow although the running product has long become 0: if the running type is no wider,
  // only a sequential scan gives the right result.
  const bool in_order = op.fn == ir::ReduceFn::prod && ir::is_floating(x.dtype) && !s.widens();
  const bool side_by_side = !lines.empty() && shape.to_step != 1;
  if ((side_by_side && shape.lines >= std::int64_t{16} * kThreads) || shape.size <= 32 || in_order) {
    emit.launch(columns_source(s), {.blocks = divide_up(shape.lines, kThreads), .threads = kThreads},
                {x, y, walk_of(lines), shape});
    return {};
  }
  if (shape.lines < kManyBlocks / 2 && shape.size >= 2 * kMinPart) {
    shape.parts = std::min(shape.size / kMinPart, divide_up(kManyBlocks, shape.lines));
    scan_parts(emit, s, x, y, lines, shape);
    return {};
  }
  emit.launch(rows_source(s, false), {.blocks = shape.lines, .threads = kThreads},
              {x, y, kNull, walk_of(lines), shape});
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
