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

}  // namespace

// The best of each part of a line, in the order of the parts, and then the best of those.
Status lower(Emitter& emit, const ir::ArgReduce& op, const NodeInPlan& at) {
  constexpr std::int64_t kLeast = 256;  // elements of a part
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const auto lines = lines_of<2>({&x, &y}, static_cast<int>(op.axis));
  const auto number = number_type(x.dtype), type = ir::compute_dtype(number);
  const auto wanted = std::int64_t{emit.target().facts().multiprocessors} * 64;
  const auto parts =
      std::clamp<std::int64_t>(wanted / lines.count, 1, std::max<std::int64_t>(lines.sizes[0] / kLeast, 1));
  const auto per_part = (lines.sizes[0] + parts - 1) / parts;
  const bool is_whole = parts == 1;
  const View bests = is_whole ? y : emit.scratch_value({type, {parts, lines.count}});
  const View places = is_whole ? y : emit.scratch_value({ir::DType::i64, {parts, lines.count}});
  {
    kernel::Writer writer(64);
    Arguments arguments(writer, index_of<2>({&x, &y}, lines.count * parts + per_part * parts));
    const auto from = arguments.address(number, x.address), to = arguments.address(places);
    const Value step = arguments.number(lines.steps[0]), size = arguments.number(lines.sizes[0]);
    const Value count = arguments.number(lines.count), length = arguments.number(per_part);
    const Value position = arguments.position();
    writer.when(position < arguments.number(lines.count * parts), [&] {
      const Value part = is_whole ? arguments.constant(0) : position / count;
      const Value line = is_whole ? position : position - part * count;
      const auto begin = offsets_in(arguments, lines.walk, line);
      const Value first = part * length;
      // A part behind the end of its line, of lines that do not divide evenly, gives the line's last element.
      const Value start = least(first, size - 1);
      const auto best = writer.variable(writer.load(from, begin[0] + start * step));
      const auto place = writer.variable(start);
      writer.loop(first + 1, least(first + length, size), arguments.constant(1), [&](Value i) {
        const Value value = writer.load(from, begin[0] + i * step);
        writer.when(is_better(op.fn, value, best.get()), [&] {
          best.set(value);
          place.set(i);
        });
      });
      const Value found = kernel::to(ir::DType::i64, place.get());
      if (is_whole) {
        writer.store(to, begin[1], found);
      } else {
        writer.store(to, position, found);
        writer.store(arguments.address(bests), position, best.get());
      }
    });
    arguments.launch(emit, lines.count * parts);
  }
  if (is_whole) return {};
  kernel::Writer writer(64);
  Arguments arguments(writer, index_of<2>({&x, &y}, lines.count * parts));
  const auto from = arguments.address(bests), found = arguments.address(places), to = arguments.address(y);
  const Value count = arguments.number(lines.count), end = arguments.number(lines.count * parts);
  const Value line = arguments.position();
  writer.when(line < count, [&] {
    const auto best = writer.variable(writer.load(from, line));
    const auto place = writer.variable(line);
    writer.loop(line + count, end, count, [&](Value i) {
      const Value value = writer.load(from, i);
      writer.when(is_better(op.fn, value, best.get()), [&] {
        best.set(value);
        place.set(i);
      });
    });
    writer.store(to, offsets_in(arguments, lines.walk, line)[1], writer.load(found, place.get()));
  });
  arguments.launch(emit, lines.count);
  return {};
}

}  // namespace burn::compile::kernels
