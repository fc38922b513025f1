// Gather and Scatter.
#include <bit>

#include <fmt/format.h>

#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/strided.h"

namespace burn::backends::cuda {
namespace {

using burn::cuda::GatherShape;
using burn::cuda::kThreads;
using burn::cuda::ScatterShape;

constexpr std::int64_t kManyLines = std::int64_t{16} * 1024;  // enough for a thread each

Grid grid_for(std::int64_t threads) { return {.blocks = divide_up(threads, kThreads), .threads = kThreads}; }

const char* unit_type(std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return "std::uint8_t";
    case 2:
      return "std::uint16_t";
    case 4:
      return "std::uint32_t";
    case 8:
      return "std::uint64_t";
    default:
      return "Pack16";
  }
}

std::string kernel_text(const std::string& parameters, const std::string& call) {
  return fmt::format(
      "#include \"backends/cuda/kernels/gather.h\"\n"
      "using namespace burn::cuda;\n"
      "extern \"C\" __global__ void __launch_bounds__(kThreads) burn_kernel({}) {{\n"
      "  {};\n"
      "}}\n",
      parameters, call);
}

// The strides with that of the axis set to 0.
ir::Dims without(ir::Dims strides, int axis) {
  strides[axis] = 0;
  return strides;
}

// How many elements are copied as one pack: parts of rows that have the same index. Values 0 and 2 of the loops are
// copied, 1 is the index.
template <typename Fits>
std::int64_t pack_width(const Loops<3>& loops, std::int64_t most, const Fits& fits) {
  if (loops.empty() || loops.back().strides[1] != 0) return 1;
  for (auto width = most; width > 1; width /= 2) {
    if (loops.back().size % width == 0 && packs_fit(loops, 0, width) && packs_fit(loops, 2, width) && fits(width))
      return width;
  }
  return 1;
}

// Makes each pack of the last loop one step; strides of values 0 and 2 stay in elements.
Loops<3> in_packs(Loops<3> loops, std::int64_t width) {
  if (width == 1) return loops;
  auto& last = loops.back();
  last.size /= width;
  last.strides[0] *= width;
  last.strides[2] *= width;
  return loops;
}

struct Scattering {
  ir::ScatterFn fn = ir::ScatterFn::add;
  View index, values, y;
  int axis = 0;

  // The loops over all dims but the axis. Values: 0: y, 1: index, 2: values.
  Loops<3> lines() const {
    auto loops = loops_over<3>(values.shape, {&y.strides, &index.strides, &values.strides});
    loops.erase(loops.begin() + axis);
    return merged(loops);
  }
  ScatterShape shape(const Loops<3>& lines) const {
    return {count_of(lines), values.shape[axis],  y.shape[axis],
            y.strides[axis], index.strides[axis], values.strides[axis]};
  }
};

void add_by_atomics(Emitter& emit, const Scattering& s) {
  const auto y_strides = without(s.y.strides, s.axis);
  const auto loops = merged(loops_over<3>(s.values.shape, {&y_strides, &s.index.strides, &s.values.strides}));
  const auto bytes = static_cast<std::int64_t>(ir::size_of(s.values.dtype));
  const auto width = pack_width(loops, s.y.dtype == ir::DType::f32 ? 4 : 1, [&](std::int64_t w) {
    return s.y.strides[s.axis] % w == 0 && is_aligned(s.y.address, 16) && is_aligned(s.values.address, w * bytes);
  });
  const GatherShape shape{s.values.num_elements() / width, s.y.shape[s.axis], s.y.strides[s.axis]};
  const KernelSource source{kernel_text(
      fmt::format("{0}* y, const {1}* index, const {2}* values, std::int64_t* report,\n"
                  "    const __grid_constant__ Walk<3> walk, const __grid_constant__ GatherShape shape",
                  storage_type(s.y.dtype), storage_type(s.index.dtype), storage_type(s.values.dtype)),
      fmt::format("scatter_add<{2}, {0}, {1}, {3}>(y, index, values, report, walk, shape)", storage_type(s.y.dtype),
                  storage_type(s.index.dtype), storage_type(s.values.dtype), width))};
  emit.launch(source, grid_for(shape.count),
              {s.y, s.index, s.values, emit.report_index(shape.axis_size), walk_of(in_packs(loops, width)), shape});
}

const char* combine_type(ir::ScatterFn fn) {
  switch (fn) {
    case ir::ScatterFn::assign:
      return "Assign";
    case ir::ScatterFn::add:
      return "burn::ir::Sum";
    case ir::ScatterFn::mul:
      return "burn::ir::Prod";
    case ir::ScatterFn::max:
      return "burn::ir::Max";
    case ir::ScatterFn::min:
      return "burn::ir::Min";
  }
  return "";
}

void by_lines(Emitter& emit, const Scattering& s) {
  const auto lines = s.lines();
  const auto shape = s.shape(lines);
  const auto *y = storage_type(s.y.dtype), *index = storage_type(s.index.dtype), *from = storage_type(s.values.dtype);
  const KernelSource source{
      kernel_text(fmt::format("{}* y, const {}* index, const {}* values, std::int64_t* report,\n"
                              "    const __grid_constant__ Walk<3> walk, const __grid_constant__ ScatterShape shape",
                              y, index, from),
                  fmt::format("scatter_lines<{}, {}, {}, {}>(y, index, values, report, walk, shape)", from, y, index,
                              combine_type(s.fn)))};
  emit.launch(source, grid_for(shape.lines),
              {s.y, s.index, s.values, emit.report_index(shape.axis_size), walk_of(lines), shape});
}

// Slots of the hash table of assign_by_places(): a power of two, of which at most half are used.
std::uint64_t slots_of(const Scattering& s) {
  return std::bit_ceil(2 * static_cast<std::uint64_t>(s.values.num_elements()));
}

// Used for few lines, where one thread per line would not keep the device busy.
void assign_by_winners(Emitter& emit, const Scattering& s) {
  const auto lines = s.lines();
  const auto shape = s.shape(lines);
  const auto bytes = static_cast<std::size_t>(s.y.num_elements()) * sizeof(std::uint64_t);
  const Address winners = emit.scratch(bytes);
  emit.fill_zero(winners, bytes);
  const auto *index = storage_type(s.index.dtype), *unit = unit_type(static_cast<std::int64_t>(ir::size_of(s.y.dtype)));
  const auto walk = walk_of(lines);
  const char* rest = "const __grid_constant__ Walk<3> walk, const __grid_constant__ ScatterShape shape";
  emit.launch(
      {kernel_text(fmt::format("unsigned long long* winners, const {}* index, std::int64_t* report, {}", index, rest),
                   "find_winners(winners, index, report, walk, shape)")},
      grid_for(shape.lines * shape.size), {winners, s.index, emit.report_index(shape.axis_size), walk, shape});
  emit.launch(
      {kernel_text(fmt::format("{0}* y, const {1}* index, const {0}* values, const unsigned long long* winners, {2}",
                               unit, index, rest),
                   "assign_winners(y, index, values, winners, walk, shape)")},
      grid_for(shape.lines * shape.size), {s.y, s.index, s.values, winners, walk, shape});
}

// The same for few values in a large y: its memory grows with the number of values, not with y.
void assign_by_places(Emitter& emit, const Scattering& s) {
  const auto lines = s.lines();
  const auto shape = s.shape(lines);
  const auto slots = slots_of(s);
  const auto mask = slots - 1;
  const auto bytes = static_cast<std::size_t>(2 * slots * sizeof(std::uint64_t));
  const Address table = emit.scratch(bytes);
  emit.fill_zero(table, bytes);
  const auto *index = storage_type(s.index.dtype), *unit = unit_type(static_cast<std::int64_t>(ir::size_of(s.y.dtype)));
  const auto walk = walk_of(lines);
  const char* rest = "const __grid_constant__ Walk<3> walk, const __grid_constant__ ScatterShape shape";
  emit.launch({kernel_text(fmt::format("unsigned long long* slots, std::uint64_t mask, const {}* index,\n"
                                       "    std::int64_t* report, {}",
                                       index, rest),
                           "find_winners_by_place(slots, mask, index, report, walk, shape)")},
              grid_for(shape.lines * shape.size),
              {table, mask, s.index, emit.report_index(shape.axis_size), walk, shape});
  emit.launch({kernel_text(fmt::format("{0}* y, const {1}* index, const {0}* values,\n"
                                       "    const unsigned long long* slots, std::uint64_t mask, {2}",
                                       unit, index, rest),
                           "assign_winners_by_place(y, index, values, slots, mask, walk, shape)")},
              grid_for(shape.lines * shape.size), {s.y, s.index, s.values, table, mask, walk, shape});
}

void convert(Emitter& emit, const View& from, const View& to) {
  emit.launch({kernel_text(fmt::format("const {}* x, {}* y, std::int64_t count", storage_type(from.dtype),
                                       storage_type(to.dtype)),
                           "convert(x, y, count)")},
              grid_for(from.num_elements()), {from, to, from.num_elements()});
}

// Copies the tensor that is scattered into, unless it is a donated input whose last use this is.
void copy_or_share(Emitter& emit, const Scattering& s, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const auto is_apart = [&](const View& other) {
    return other.address.base != x.address.base || other.address.index != x.address.index;
  };
  if (x.is_contiguous() && is_apart(s.index) && is_apart(s.values)) emit.allow_in_place(x, at.result());
  emit.copy(x, s.y);
}

bool has_atomic_add(ir::DType dtype) { return ir::size_of(dtype) >= 4; }

void scatter(Emitter& emit, const Scattering& s) {
  if (s.fn == ir::ScatterFn::add && has_atomic_add(s.y.dtype)) return add_by_atomics(emit, s);
  const auto lines = s.values.num_elements() / s.values.shape[s.axis];
  if (s.fn == ir::ScatterFn::assign && lines < kManyLines && s.values.shape[s.axis] > 64)
    return 2 * slots_of(s) < static_cast<std::uint64_t>(s.y.num_elements()) ? assign_by_places(emit, s)
                                                                            : assign_by_winners(emit, s);
  by_lines(emit, s);
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Gather& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), index = emit.read(at.operand(1)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const int axis = static_cast<int>(op.axis);
  const auto x_strides = without(x.strides, axis);
  auto loops = merged(loops_over<3>(y.shape, {&x_strides, &index.strides, &y.strides}));
  const auto bytes = static_cast<std::int64_t>(ir::size_of(x.dtype));
  const auto width = pack_width(loops, 16 / bytes, [&](std::int64_t w) {
    return x.strides[axis] % w == 0 && is_aligned(x.address, w * bytes) && is_aligned(y.address, w * bytes);
  });
  if (width > 1) {
    loops.back().size /= width;
    loops.back().strides[0] = loops.back().strides[2] = 1;
    for (auto loop = loops.begin(); loop + 1 != loops.end(); ++loop) {
      loop->strides[0] /= width;
      loop->strides[2] /= width;
    }
  }
  const GatherShape shape{y.num_elements() / width, x.shape[axis], x.strides[axis] / width};
  const auto *unit = unit_type(bytes * width), *number = storage_type(index.dtype);
  const KernelSource source{
      kernel_text(fmt::format("const {0}* x, const {1}* index, {0}* y, std::int64_t* report,\n"
                              "    const __grid_constant__ Walk<3> walk, const __grid_constant__ GatherShape shape",
                              unit, number),
                  "gather(x, index, y, report, walk, shape)")};
  emit.launch(source, grid_for(shape.count), {x, index, y, emit.report_index(shape.axis_size), walk_of(loops), shape});
  return {};
}

// Duplicates: `add` of integers, of 32- and 64-bit floats, and of 16-bit floats, which are summed in f32, processes
// them in no defined order; everything else processes them in the order of the index.
Status lower(Emitter& emit, const ir::Scatter& op, const NodeInPlan& at) {
  const View y = emit.result(at.result());
  if (y.num_elements() == 0 && emit.type_of(at.operand(2)).num_elements() == 0) return {};
  Scattering s{op.fn, emit.read(at.operand(1)), emit.read(at.operand(2)), y, static_cast<int>(op.axis)};
  const bool accumulates = op.fn == ir::ScatterFn::add || op.fn == ir::ScatterFn::mul;
  const bool in_f32 =
      accumulates && ir::compute_dtype(y.dtype) != y.dtype && s.values.num_elements() > 0 && y.num_elements() > 0;
  if (in_f32) s.y = emit.scratch_value({ir::compute_dtype(y.dtype), y.shape});
  const auto* fill = emit.constant(at.operand(0));
  const auto bytes = ir::TensorType{s.y.dtype, s.y.shape}.num_bytes();
  if (fill && fill->bits() == 0)
    emit.fill_zero(s.y.address, bytes);
  else if (in_f32)
    convert(emit, emit.contiguous(emit.read(at.operand(0))), s.y);
  else if (y.num_elements() > 0)
    copy_or_share(emit, s, at);
  if (s.values.num_elements() > 0) scatter(emit, s);
  if (in_f32) convert(emit, s.y, y);
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
