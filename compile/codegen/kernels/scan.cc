// Running combinations: a thread goes through a line.
#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"

namespace burn::compile::kernels {
namespace {

// What a sum or product of two f32 loses by its rounding (T. J. Dekker, Numer. Math. 18, 1971; D. E. Knuth, The Art of
// Computer Programming 2, 4.2.2). Not finite where the result is not.
kernel::Value lost_of_sum(kernel::Value a, kernel::Value b, kernel::Value sum) {
  const auto added = sum - a;
  return (a - (sum - added)) + (b - added);
}
kernel::Value lost_of_product(kernel::Value a, kernel::Value b, kernel::Value product) {
  const auto upper = [](kernel::Value x) {  // its first twelve bits
    const auto scaled = x * 4097.0F;
    return scaled - (scaled - x);
  };
  const auto a0 = upper(a), b0 = upper(b), a1 = a - a0, b1 = b - b0;
  return ((a0 * b0 - product) + a0 * b1 + a1 * b0) + a1 * b1;
}
kernel::Value is_finite(kernel::Value x) { return x - x == 0.0F; }

}  // namespace

// Sums and products of many f32 in a row run in f64, where the device has it, also those of 16-bit floats: their error
// would grow with the length of the line. Elsewhere what each step rounds away is kept beside the total.
Status lower(Emitter& emit, const ir::Scan& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const auto lines = lines_of<2>({&x, &y}, static_cast<int>(op.axis));
  const auto number = number_type(x.dtype);
  const bool is_long = op.fn == ir::ReduceFn::sum || op.fn == ir::ReduceFn::prod;
  const bool is_f32 = is_long && ir::compute_dtype(x.dtype) == ir::DType::f32;
  const bool widens = is_f32 && emit.target().facts().has_f64;
  const bool keeps_rest = is_f32 && !widens;
  const auto running = widens ? ir::DType::f64 : ir::compute_dtype(number);
  kernel::Writer writer(64);
  Arguments arguments(writer, index_of<2>({&x, &y}, lines.count));
  const auto from = arguments.address(number, x.address), to = arguments.address(number, y.address);
  const auto from_step = arguments.number(lines.steps[0]), to_step = arguments.number(lines.steps[1]);
  const auto size = arguments.number(lines.sizes[0]);
  const auto line = arguments.position();
  writer.when(line < arguments.number(lines.count), [&] {
    const auto begin = offsets_in(arguments, lines.walk, line);
    const auto total = writer.variable(kernel::identity(writer, op.fn, running));
    const auto rest = keeps_rest ? writer.variable(writer.constant(running, 0.0)) : total;
    writer.loop(size, [&](kernel::Value i) {
      const auto value = kernel::cast(running, writer.load(from, begin[0] + i * from_step));
      const auto before = total.get(), after = kernel::combine(op.fn, before, value);
      total.set(after);
      if (keeps_rest) {
        const bool is_sum = op.fn == ir::ReduceFn::sum;
        const auto lost = is_sum ? lost_of_sum(before, value, after) : lost_of_product(before, value, after);
        const auto next = (is_sum ? rest.get() : rest.get() * value) + lost;
        rest.set(kernel::select(is_finite(next), next, 0.0F));  // infinity and NaN have none
      }
      writer.store(to, begin[1] + i * to_step, kernel::cast(number, keeps_rest ? after + rest.get() : after));
    });
  });
  arguments.launch(emit, lines.count);
  return {};
}

}  // namespace burn::compile::kernels
