#include "compile/codegen/kernel/prelude.h"

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel::prelude {
namespace {

ir::DType unsigned_of(ir::DType type) {
  using enum ir::DType;
  switch (type) {
    case i64:
      return u64;
    case i32:
      return u32;
    case i16:
      return u16;
    case i8:
      return u8;
    default:
      return type;
  }
}

// For a divisor that a device may take: 1 instead of 0, and of -1, whose quotients are not taken from the division.
Value safe_divisor(Value b) {
  const Value one = b.number(1);
  return select(is_signed(b.type) ? b == 0 || b == -1 : b == 0, one, b);
}

Value whole_power(Value a, Value b) {
  auto& writer = *a.writer;
  const auto result = writer.variable(a.number(1)), base = writer.variable(a), exponent = writer.variable(b);
  writer.loop(writer.index(bits_of(a.type)), [&](Value) {
    writer.break_when(exponent.get() == 0);
    const Value is_odd = (exponent.get() & 1) != 0;
    result.set(select(is_odd, result.get() * base.get(), result.get()));
    base.set(base.get() * base.get());
    exponent.set(exponent.get() >> 1);
  });
  if (!is_signed(a.type)) return result.get();
  const Value of_one = select((b & 1) == 0, a.number(1), a);
  return select(b < 0, select(a == 1 || a == -1, of_one, a.number(0)), result.get());
}

}  // namespace

Value abs(Value x) {
  if (ir::is_floating(x.type)) return fabs(x);
  return is_signed(x.type) ? select(x < 0, -x, x) : x;
}

Value sign(Value x) {
  const Value up = select(x > 0, x.number(1), x.number(0));
  return is_signed(x.type) || ir::is_floating(x.type) ? select(x < 0, x.number(-1), up) : up;
}

Value max(Value a, Value b) { return select(a < b, b, a); }
Value min(Value a, Value b) { return select(b < a, b, a); }

Value div(Value a, Value b) {
  if (ir::is_floating(a.type)) return a / b;
  const Value quotient = select(b == 0, a.number(0), a / safe_divisor(b));
  return is_signed(a.type) ? select(b == -1, -a, quotient) : quotient;
}

Value remainder(Value a, Value b) {
  if (ir::is_floating(a.type)) {
    const Value r = fmod(a, b);
    return select(r != 0 && ((r < 0) ^ (b < 0)), r + b, r);
  }
  const Value r = a % safe_divisor(b);  // 0 of the divisor 1
  return is_signed(a.type) ? select(r != 0 && ((r < 0) ^ (b < 0)), r + b, r) : r;
}

Value pow(Value a, Value b) { return ir::is_floating(a.type) ? kernel::power(a, b) : whole_power(a, b); }

Value shift_left(Value a, Value b) {
  const Value distance = bits_as(unsigned_of(b.type), b);
  const int width = bits_of(a.type);
  return select(distance < width, a << (b & (width - 1)), a.number(0));
}

Value shift_right(Value a, Value b) {
  const Value distance = bits_as(unsigned_of(b.type), b);
  const int width = bits_of(a.type);
  const Value out = is_signed(a.type) ? select(a < 0, a.number(-1), a.number(0)) : a.number(0);
  return select(distance < width, a >> (b & (width - 1)), out);
}

}  // namespace burn::compile::kernel::prelude
