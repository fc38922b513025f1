// What elementary functions are made of: the bits of floats, polynomials, and sums and products in pairs.
#include <limits>
#include <vector>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/functions.h"

namespace burn::compile::kernel {

FloatFormat format_of(ir::DType type) {
  if (type == ir::DType::f32) return {ir::DType::u32, ir::DType::i32, 23, 127};
  return {ir::DType::u64, ir::DType::i64, 52, 1023};
}

Value infinity(Value like) { return like.like(std::numeric_limits<double>::infinity()); }
Value not_a_number(Value like) { return like.like(std::numeric_limits<double>::quiet_NaN()); }

Value with_sign_of(Value sign, Value magnitude) {
  const auto bits = format_of(sign.type).bits;
  const Value of = bits_as(bits, sign);
  const Value mask = of.number(1) << (bits_of(bits) - 1);
  return bits_as(sign.type, bits_as(bits, magnitude) | (of & mask));
}

Value polynomial(Value x, const std::vector<double>& coefficients) {
  Value sum = x.like(coefficients.back());
  for (auto c = coefficients.rbegin() + 1; c != coefficients.rend(); ++c) sum = fused_multiply_add(sum, x, x.like(*c));
  return sum;
}

Value polynomial(Value x, std::initializer_list<double> coefficients) {
  return polynomial(x, std::vector<double>(coefficients));
}

Pair exact_sum(Value a, Value b) {
  const Value sum = a + b, second = sum - a;
  return {sum, (a - (sum - second)) + (b - second)};
}

Pair exact_product(Value a, Value b) {
  const auto split = [](Value x) {
    const Value far = x * (is_f32(x) ? 0x1001p0 : 0x8000001p0), high = far - (far - x);
    return Pair{high, x - high};
  };
  const auto x = split(a), y = split(b);
  const Value product = a * b;
  return {product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

Value times_power_of_two(Value x, Value power) {
  const auto format = format_of(x.type);
  const auto factor = [&](Value e) { return bits_as(x.type, (e + format.bias) << format.mantissa); };
  const Value half = power >> 1;
  return x * factor(half) * factor(power - half);
}

}  // namespace burn::compile::kernel
