// The remainder of floats.
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {

// Exactly, by a long division of the mantissas that takes as many bits at once as a word has room for.
Value fmod(Value a, Value b) {
  if (const auto own = call_own(Function::fmod, a, b)) return *own;
  auto& writer = *a.writer;
  const auto format = format_of(a.type);
  const auto u64 = ir::DType::u64;
  const Value x = fabs(a), y = fabs(b);
  const Value is_defined = x < infinity(a) && y > 0.0F && !is_nan(y), divides = is_defined && y <= x;
  const auto mantissa = [&](Value v) {
    const Value bits = to(u64, bits_as(format.bits, v)), exponent = bits >> format.mantissa;
    const Value low = bits & bits.like((std::int64_t{1} << format.mantissa) - 1);
    return select(exponent == 0, low, low | bits.like(std::int64_t{1} << format.mantissa));
  };
  const auto exponent = [&](Value v) {  // of the last bit of the mantissa, from 1 on
    const Value e = to(ir::DType::i32, bits_as(format.bits, v) >> format.mantissa);
    return select(e < 1, 1, e);
  };
  const auto result = writer.variable(x);
  writer.when(divides, [&] {
    const Value divisor = mantissa(y), last = exponent(y);
    const auto rest = writer.variable(mantissa(x) % divisor);
    const auto shift = writer.variable(exponent(x) - last);
    const int most = 62 - format.mantissa;
    writer.loop(writer.index(2048 / most), [&](Value) {
      writer.break_when(shift.get() <= 0);
      const Value now = select(shift.get() > most, most, shift.get());
      rest.set((rest.get() << to(u64, now)) % divisor);
      shift.set(shift.get() - now);
    });
    const Value power = to(format.whole, last) - (format.bias + format.mantissa);
    result.set(times_power_of_two(to(a.type, rest.get()), power));
  });
  return select(is_defined, with_sign_of(a, result.get()), not_a_number(a));
}

}  // namespace burn::compile::kernel
