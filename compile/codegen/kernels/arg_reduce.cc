// Positions of extremes: a thread goes through a line, or through a part of one where there are few lines.
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/tile.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// Whether a value that comes later in its line takes the place of the best so far: the first of equals stays, and NaN
// wins.
Value is_better(ir::ArgFn fn, Value value, Value best) {
  const Value more = fn == ir::ArgFn::max ? best < value : value < best;
  if (!ir::is_floating(value.type)) return more;
  return !kernel::is_nan(best) && (more || kernel::is_nan(value));
}

// The best value of a line so far, and where it is.
class Best {
 public:
  Best(kernel::Writer& writer, ir::ArgFn fn, Value value, Value place)
      : writer_(writer), fn_(fn), value_(writer.variable(value)), place_(writer.variable(place)) {}

  void compare(Value value, Value place) const {
    writer_.when(is_better(fn_, value, value_.get()), [&] {
      value_.set(value);
      place_.set(place);
    });
  }
  Value value() const { return value_.get(); }
  Value place() const { return place_.get(); }

 private:
  kernel::Writer& writer_;
  const ir::ArgFn fn_;
  const kernel::Variable value_, place_;
};

struct LinesInParts {
  const View &x, &y;
  ir::ArgFn fn;
  Lines<2> lines;
  std::int64_t parts, per_part;  // of a line, and elements of a part

  bool is_whole() const { return parts == 1; }
};

// The best of each part of a line, in the order of the parts: [parts, lines]. Of whole lines the place is the result.
void emit_best_of_parts(Emitter& emit, const LinesInParts& in, const View& bests, const View& places) {
  const auto& lines = in.lines;
  const auto number = number_type(in.x.dtype);
  kernel::Writer writer(64);
  Arguments arguments(writer, index_of<2>({&in.x, &in.y}, lines.count * in.parts + in.per_part * in.parts));
  const auto from = arguments.address(number, in.x.address), to = arguments.address(places);
  const Value step = arguments.number(lines.steps[0]), size = arguments.number(lines.sizes[0]);
  const Value count = arguments.number(lines.count), length = arguments.number(in.per_part);
  const Value position = arguments.position();
  writer.when(position < arguments.number(lines.count * in.parts), [&] {
    const Value part = in.is_whole() ? arguments.constant(0) : position / count;
    const Value line = in.is_whole() ? position : position - part * count;
    const auto begin = offsets_in(arguments, lines.walk, line);
    const Value first = part * length;
    // A part behind the end of its line, of lines that do not divide evenly, gives the line's last element.
    const Value start = least(first, size - 1);
    const Best best(writer, in.fn, writer.load(from, begin[0] + start * step), start);
    writer.loop(first + 1, least(first + length, size), arguments.constant(1),
                [&](Value i) { best.compare(writer.load(from, begin[0] + i * step), i); });
    const Value found = kernel::to(ir::DType::i64, best.place());
    writer.store(to, in.is_whole() ? begin[1] : position, found);
    if (!in.is_whole()) writer.store(arguments.address(bests), position, best.value());
  });
  arguments.launch(emit, lines.count * in.parts);
}

void emit_best_of_lines(Emitter& emit, const LinesInParts& in, const View& bests, const View& places) {
  const auto& lines = in.lines;
  kernel::Writer writer(64);
  Arguments arguments(writer, index_of<2>({&in.x, &in.y}, lines.count * in.parts));
  const auto from = arguments.address(bests), found = arguments.address(places), to = arguments.address(in.y);
  const Value count = arguments.number(lines.count), end = arguments.number(lines.count * in.parts);
  const Value line = arguments.position();
  writer.when(line < count, [&] {
    const Best best(writer, in.fn, writer.load(from, line), line);
    writer.loop(line + count, end, count, [&](Value i) { best.compare(writer.load(from, i), i); });
    writer.store(to, offsets_in(arguments, lines.walk, line)[1], writer.load(found, best.place()));
  });
  arguments.launch(emit, lines.count);
}

}  // namespace

Status lower(Emitter& emit, const ir::ArgReduce& op, const NodeInPlan& at) {
  constexpr std::int64_t kLeast = 256;  // elements of a part
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const auto lines = lines_of<2>({&x, &y}, static_cast<int>(op.axis));
  const auto type = ir::compute_dtype(number_type(x.dtype));
  const auto wanted = std::int64_t{emit.target().facts().multiprocessors} * 64;
  const auto parts =
      std::clamp<std::int64_t>(wanted / lines.count, 1, std::max<std::int64_t>(lines.sizes[0] / kLeast, 1));
  const LinesInParts in{x, y, op.fn, lines, parts, (lines.sizes[0] + parts - 1) / parts};
  if (in.is_whole()) {
    emit_best_of_parts(emit, in, y, y);
    return {};
  }
  const View bests = emit.scratch_value({type, {parts, lines.count}});
  const View places = emit.scratch_value({ir::DType::i64, {parts, lines.count}});
  emit_best_of_parts(emit, in, bests, places);
  emit_best_of_lines(emit, in, bests, places);
  return {};
}

}  // namespace burn::compile::kernels
