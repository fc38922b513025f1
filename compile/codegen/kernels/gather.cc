// Elements taken from, or brought to, where an index says.
#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/tile.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// then(place) where an index is inside; else it is reported.
void when_inside(kernel::Writer& writer, Arguments& arguments, Value index, Value size, kernel::Memory report,
                 const std::function<void(Value place)>& then) {
  const Value wide = to(ir::DType::i64, index);
  writer.when(
      wide >= 0 && wide < to(ir::DType::i64, size), [&] { then(to(arguments.index(), wide)); },
      [&] {
        writer.store(report, writer.index(0), wide);
        writer.store(report, writer.index(1), writer.constant(ir::DType::i64, std::int64_t{1}));
      });
}

// Elements of one dtype as another's, both row-major.
void convert(Emitter& emit, const View& from, const View& to) {
  kernel::Writer writer(256);
  Arguments arguments(writer, index_type(from.num_elements()));
  const auto source = arguments.address(from), target = arguments.address(to);
  const auto position = arguments.position();
  writer.when(position < arguments.number(from.num_elements()),
              [&] { writer.store(target, position, kernel::cast(to.dtype, writer.load(source, position))); });
  arguments.launch(emit, from.num_elements());
}

// What lies in a place, and what comes to it. Of bool, which combines as a number of one byte.
Value combined(ir::ScatterFn fn, Value there, Value value) {
  switch (fn) {
    case ir::ScatterFn::assign:
      return value;
    case ir::ScatterFn::add:
      return kernel::combine(ir::ReduceFn::sum, there, value);
    case ir::ScatterFn::mul:
      return kernel::combine(ir::ReduceFn::prod, there, value);
    case ir::ScatterFn::max:
      return kernel::combine(ir::ReduceFn::max, there, value);
    case ir::ScatterFn::min:
      return kernel::combine(ir::ReduceFn::min, there, value);
  }
  return value;
}

// A thread for each line along the axis, which goes through its index from the front: what falls on one place meets
// in that order, so that results are the same each time. Where there are few lines, several threads go through each
// one's index, and each looks after its part of the places.
void scatter_lines(Emitter& emit, ir::ScatterFn fn, const View& y, const View& index, const View& values, int axis) {
  // Lines are those of the values: y is as long in all other dims.
  View across = y;
  across.shape = values.shape;
  const auto lines = lines_of<3>({&values, &index, &across}, axis);
  const auto& facts = emit.target().facts();
  const auto parts = facts.has_slow_barriers
                         ? 1
                         : std::clamp<std::int64_t>(wanted_threads(facts) / std::max<std::int64_t>(lines.count, 1), 1,
                                                    std::clamp<std::int64_t>(y.shape[axis], 1, 64));
  kernel::Writer writer(64);
  Arguments arguments(writer, index_of<3>({&values, &index, &y}, lines.count * parts));
  const auto number = number_type(y.dtype);
  const auto from = arguments.address(number_type(values.dtype), values.address);
  const auto indices = arguments.address(index), target = arguments.address(number, y.address);
  const auto report = arguments.address(ir::DType::i64, emit.report_index(y.shape[axis]));
  const Value size = arguments.number(y.shape[axis]), count = arguments.number(lines.sizes[0]);
  const Value from_step = arguments.number(lines.steps[0]), index_step = arguments.number(lines.steps[1]);
  const Value to_step = arguments.number(lines.steps[2]);
  const Value lines_count = arguments.number(lines.count), position = arguments.position();
  const auto bring = [&](Value to_line, Value value_at, Value place) {
    when_inside(writer, arguments, place, size, report, [&](Value inside) {
      const Value at = to_line + inside * to_step;
      const Value value = kernel::cast(number, writer.load(from, value_at));
      writer.store(target, at, fn == ir::ScatterFn::assign ? value : combined(fn, writer.load(target, at), value));
    });
  };
  if (parts == 1) {
    writer.when(position < lines_count, [&] {
      const auto begin = offsets_in(arguments, lines.walk, position);
      writer.loop(count, [&](Value i) {
        bring(begin[2], begin[0] + i * from_step, writer.load(indices, begin[1] + i * index_step));
      });
    });
  } else {
    constexpr std::int64_t kAhead = 8;  // of the index, on its way together
    const Value of_part = to(ir::DType::i64, arguments.number((y.shape[axis] + parts - 1) / parts));
    writer.when(position < lines_count * arguments.number(parts), [&] {
      const Value part = position / lines_count;
      const auto begin = offsets_in(arguments, lines.walk, position - part * lines_count);
      const Value lowest = to(ir::DType::i64, part) * of_part, beyond = lowest + of_part;
      const Value is_first = part == 0;
      writer.loop(arguments.constant(0), count, arguments.constant(kAhead), [&](Value first) {
        Values at, places;
        for (std::int64_t k = 0; k < kAhead; ++k) at.push_back(least(first + k, count - 1));
        for (const auto i : at) places.push_back(to(ir::DType::i64, writer.load(indices, begin[1] + i * index_step)));
        for (std::size_t k = 0; k < at.size(); ++k) {
          const Value place = places[k], is_one = first + static_cast<std::int64_t>(k) < count;
          // What is outside is the first part's to report.
          const Value is_outside = place < 0 || place >= to(ir::DType::i64, size);
          const Value is_mine = (place >= lowest && place < beyond && !is_outside) || (is_first && is_outside);
          writer.when(is_one && is_mine, [&] { bring(begin[2], begin[0] + at[k] * from_step, place); });
        }
      });
    });
  }
  arguments.launch(emit, lines.count * parts);
}

}  // namespace

Status lower(Emitter& emit, const ir::Gather& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), index = emit.read(at.operand(1)), y = emit.result(at.result());
  const auto elements = y.num_elements();
  if (elements == 0) return {};
  const int axis = static_cast<int>(op.axis);
  auto along = x.strides;
  along[axis] = 0;
  const auto dims = [](const ir::Dims& of) { return std::vector<std::int64_t>(of.begin(), of.end()); };
  const auto walk = merge_dims(y.shape.span(), {dims(along), dims(index.strides), dims(y.strides)});
  kernel::Writer writer(256);
  Arguments arguments(writer, index_of<3>({&x, &index, &y}, elements));
  const auto from = arguments.address(x), indices = arguments.address(index), to = arguments.address(y);
  const auto report = arguments.address(ir::DType::i64, emit.report_index(x.shape[axis]));
  const Value size = arguments.number(x.shape[axis]), step = arguments.number(x.strides[axis]);
  const Value position = arguments.position();
  writer.when(position < arguments.number(elements), [&] {
    const auto places = offsets_in(arguments, walk, position);
    when_inside(writer, arguments, writer.load(indices, places[1]), size, report,
                [&](Value inside) { writer.store(to, places[2], writer.load(from, places[0] + inside * step)); });
  });
  arguments.launch(emit, elements);
  return {};
}

Status lower(Emitter& emit, const ir::Scatter& op, const NodeInPlan& at) {
  const View y = emit.result(at.result());
  if (y.num_elements() == 0 && emit.type_of(at.operand(2)).num_elements() == 0) return {};
  const View index = emit.read(at.operand(1)), values = emit.read(at.operand(2));
  // The 16-bit floats are added up and multiplied in f32.
  const bool accumulates = op.fn == ir::ScatterFn::add || op.fn == ir::ScatterFn::mul;
  const bool in_f32 =
      accumulates && ir::compute_dtype(y.dtype) != y.dtype && values.num_elements() > 0 && y.num_elements() > 0;
  const View into = in_f32 ? emit.scratch_value({ir::compute_dtype(y.dtype), y.shape}) : y;
  if (in_f32) {
    convert(emit, emit.contiguous(emit.read(at.operand(0))), into);
  } else if (y.num_elements() > 0) {
    const View x = emit.read(at.operand(0));
    const auto is_apart = [&](const View& other) {
      return other.address.base != x.address.base || other.address.index != x.address.index;
    };
    if (x.is_contiguous() && is_apart(index) && is_apart(values)) emit.allow_in_place(x, at.result());
    emit.copy(x, into);
  }
  if (values.num_elements() > 0) scatter_lines(emit, op.fn, into, index, values, static_cast<int>(op.axis));
  if (in_f32) convert(emit, into, y);
  return {};
}

}  // namespace burn::compile::kernels
