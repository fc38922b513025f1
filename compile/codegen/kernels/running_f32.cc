#include "compile/codegen/kernels/running_f32.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using enum ir::DType;

// What a sum or product of two f32 loses by its rounding (D. E. Knuth, The Art of Computer Programming 2, 4.2.2;
// T. J. Dekker, Numer. Math. 18, 1971). Not finite where the result is not.
Value lost_of_sum(Value a, Value b, Value sum) {
  const Value added = sum - a;
  return (a - (sum - added)) + (b - added);
}
Value lost_of_product(Value a, Value b, Value product) {
  const auto upper = [](Value x) {  // its first twelve bits
    const Value scaled = x * 4097.0F;
    return scaled - (scaled - x);
  };
  const Value a0 = upper(a), b0 = upper(b), a1 = a - a0, b1 = b - b0;
  return ((a0 * b0 - product) + a0 * b1 + a1 * b0) + a1 * b1;
}

Value finite_or_zero(Value x) { return kernel::select(x - x == 0.0F, x, 0.0F); }

// x = mantissa 2^exponent, 1 <= |mantissa| < 2; zeros, denormals, infinities and NaN have the exponent 0.
struct Parts {
  Value mantissa, exponent;
};
Parts parts_of(Value x) {
  constexpr std::int64_t kInfinite = 255, kBias = 127, kOthers = 0x807fffff, kOne = 0x3f800000;
  const Value bits = bits_as(u32, x), field = (bits >> 23) & kInfinite, exponent = bits_as(i32, field) - kBias;
  const Value is_normal = field != 0 && field != kInfinite;
  return {select(is_normal, bits_as(f32, (bits & kOthers) | kOne), x), select(is_normal, exponent, exponent.number(0))};
}

// -126 <= exponent <= 127.
Value power_of_two(Value exponent) { return bits_as(f32, bits_as(u32, exponent + 127) << 23); }

Value scaled(Value x, Value exponent) {
  constexpr std::int64_t kBeyond = 360;  // of any float
  const Value lowest = exponent.number(-kBeyond), highest = exponent.number(kBeyond);
  const Value bounded = select(exponent < lowest, lowest, select(exponent > highest, highest, exponent));
  const Value third = bounded / 3, rest = bounded - third * 2;
  return x * power_of_two(third) * power_of_two(third) * power_of_two(rest);
}

}  // namespace

RunningF32::RunningF32(kernel::Writer& writer, bool is_sum)
    : is_sum_(is_sum),
      total_(writer.variable(writer.constant(f32, is_sum ? 0.0 : 1.0))),
      rest_(writer.variable(writer.constant(f32, 0.0))),
      exponent_(writer.variable(writer.constant(i32, std::int64_t{0}))) {}

Value RunningF32::next(Value x) const { return is_sum_ ? next_sum(x) : next_product(x); }

Value RunningF32::next_sum(Value x) const {
  const Value before = total_.get(), after = before + x;
  const Value rest = finite_or_zero(rest_.get() + lost_of_sum(before, x, after));
  total_.set(after);
  rest_.set(rest);
  return after + rest;
}

Value RunningF32::next_product(Value x) const {
  const auto [factor, exponent] = parts_of(x);
  const Value before = total_.get(), product = before * factor;
  const auto [total, more] = parts_of(product);
  const Value lost = lost_of_product(before, factor, product);
  const Value rest = finite_or_zero((rest_.get() * factor + lost) * power_of_two(-more));
  const Value all = exponent_.get() + exponent + more;
  total_.set(total);
  rest_.set(rest);
  exponent_.set(all);
  return scaled(total + rest, all);
}

}  // namespace burn::compile::kernels
