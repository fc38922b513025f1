// Running combinations: a thread goes through a line.
#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/running_f32.h"

namespace burn::compile::kernels {

// Sums and products of many f32 in a row run in f64, where the device has it, also those of 16-bit floats: their error
// would grow with the length of the line. Elsewhere as running_f32.h has it.
Status lower(Emitter& emit, const ir::Scan& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const auto lines = lines_of<2>({&x, &y}, static_cast<int>(op.axis));
  const auto number = number_type(x.dtype);
  const bool is_long = op.fn == ir::ReduceFn::sum || op.fn == ir::ReduceFn::prod;
  const bool is_f32 = is_long && ir::compute_dtype(x.dtype) == ir::DType::f32;
  const bool widens = is_f32 && emit.target().facts().has_f64;
  const auto running = widens ? ir::DType::f64 : ir::compute_dtype(number);
  kernel::Writer writer(64);
  Arguments arguments(writer, index_of<2>({&x, &y}, lines.count));
  const auto from = arguments.address(number, x.address), to = arguments.address(number, y.address);
  const auto from_step = arguments.number(lines.steps[0]), to_step = arguments.number(lines.steps[1]);
  const auto size = arguments.number(lines.sizes[0]);
  const auto line = arguments.position();
  writer.when(line < arguments.number(lines.count), [&] {
    const auto begin = offsets_in(arguments, lines.walk, line);
    const auto steps = [&](const auto& next) {
      writer.loop(size, [&](kernel::Value i) {
        const auto value = kernel::cast(running, writer.load(from, begin[0] + i * from_step));
        writer.store(to, begin[1] + i * to_step, kernel::cast(number, next(value)));
      });
    };
    if (is_f32 && !widens) {
      const RunningF32 total(writer, op.fn == ir::ReduceFn::sum);
      return steps([&](kernel::Value value) { return total.next(value); });
    }
    const auto total = writer.variable(kernel::identity(writer, op.fn, running));
    steps([&](kernel::Value value) {
      total.set(kernel::combine(op.fn, total.get(), value));
      return total.get();
    });
  });
  arguments.launch(emit, lines.count);
  return {};
}

}  // namespace burn::compile::kernels
