// Sines, tangents and their inverses.
#include <array>
#include <numbers>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

bool is_f32(Value x) { return x.type == ir::DType::f32; }

// x = quarter pi / 2 + rest, |rest| <= pi / 4; of the quarter its last two bits count.
struct Turned {
  Value quarter, rest;
};

// pi / 2 in parts whose multiples by a quarter are exact (Cody and Waite).
Turned turned_near(Value x) {
  const Value n = rint(x * 0.63661977236758138);
  static constexpr std::array<double, 4> kShort{0x1.921fp+0, 0x1.6a88p-17, 0x1.0b46p-34, 0x1.1a6264p-54};
  static constexpr std::array<double, 4> kLong{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                               0x1.b839a252049c1p-104};
  Value r = x;
  for (const auto part : is_f32(x) ? kShort : kLong) r = r - n * part;
  return {to(ir::DType::i32, n), r};
}

// Of f32, however large: x 2 / pi from the bits of 2 / pi that matter (Payne and Hanek). x = m 2^e with a whole m of 24
// bits, so bits of 2 / pi in front of weight 2^(1 - e) make whole turns, and 96 bits from there on are enough.
Turned turned_far(Value x) {
  using enum ir::DType;
  static constexpr std::array<std::int64_t, 8> kTwoOverPi{0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                                          0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  const Value bits = bits_as(u32, x) & 0x7fffffff;
  const Value m = to(u64, (bits & 0x7fffff) | 0x800000);
  const Value begin = (bits >> 23) - (150 - 30);  // in the bits of the table
  const Value first = begin >> 5, shift = to(u64, begin & 31);
  const auto word = [&](int k) {  // of the table, from `first` on
    Value found = bits.writer->constant(u64, kTwoOverPi[static_cast<std::size_t>(k)]);
    for (int at = 1; at + k < static_cast<int>(kTwoOverPi.size()); ++at)
      found = select(first == at, found.like(kTwoOverPi[static_cast<std::size_t>(at + k)]), found);
    return found;
  };
  const std::array<Value, 4> words{word(0), word(1), word(2), word(3)};
  const auto window = [&](std::size_t k) { return (((words[k] << 32) | words[k + 1]) << shift) >> 32; };
  const Value low = m * window(2), middle = m * window(1) + (low >> 32);
  const Value high = m * window(0) + (middle >> 32);
  const Value turns = (high << 32) | (middle & 0xffffffff);  // the upper two bits: quarters
  const Value quarter = (turns + turns.like(std::int64_t{1} << 61)) >> 62;
  const Value rest = to(f32, bits_as(i64, turns - (quarter << 62))) * (std::numbers::pi / 2 * 0x1p-62);
  const Value is_negative = x < 0.0F, whole = to(i32, quarter);
  return {select(is_negative, -whole, whole), select(is_negative, -rest, rest)};
}

Turned turned(Value x) {
  const auto near = turned_near(x);
  if (!is_f32(x)) return near;
  auto& writer = *x.writer;
  const auto quarter = writer.variable(near.quarter), rest = writer.variable(near.rest);
  writer.when(fabs(x) > 64.0F, [&] {
    const auto far = turned_far(x);
    quarter.set(far.quarter);
    rest.set(far.rest);
  });
  return {quarter.get(), rest.get()};
}

Value sine_near_zero(Value r) {
  const Value z = r * r;
  const Value p = is_f32(r) ? polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880})
                            : polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                             1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000});
  return r + r * (z * p);
}
Value cosine_near_zero(Value r) {
  const Value z = r * r;
  const Value p = is_f32(r) ? polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800})
                            : polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                             -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000});
  return (1.0F - z * 0.5F) + z * z * p;
}

// sin(x + quarters pi / 2).
Value sine(Value x, int quarters) {
  const auto at = turned(x);
  const Value quarter = at.quarter + quarters;
  const Value size = select((quarter & 1) == 0, sine_near_zero(at.rest), cosine_near_zero(at.rest));
  const Value y = select((quarter & 2) == 0, size, -size);
  return select(fabs(x) < infinity(x), y, not_a_number(x));
}

}  // namespace

Value sin(Value x) { return select(x == 0.0F, x, sine(x, 0)); }
Value cos(Value x) { return sine(x, 1); }

Value tan(Value x) {
  const auto at = turned(x);
  const Value s = sine_near_zero(at.rest), c = cosine_near_zero(at.rest);
  const Value y = select((at.quarter & 1) == 0, s, -c) / select((at.quarter & 1) == 0, c, s);
  return select(x == 0.0F, x, select(fabs(x) < infinity(x), y, not_a_number(x)));
}

// Of |x| above tan(3 pi / 8): pi / 2 - atan(1 / x); above tan(pi / 8): pi / 4 + atan((x - 1) / (x + 1)). f64 halves the
// angle twice more. Then the series x - x^3 / 3 + ..., cut where the rest is below half a unit.
Value atan(Value x) {
  const Value a = fabs(x), is_large = a > 2.414213562373095, is_middle = a > 0.4142135623730950;
  Value t = select(is_large, -1.0F / a, select(is_middle, (a - 1.0F) / (a + 1.0F), a));
  const Value offset =
      select(is_large, a.like(std::numbers::pi / 2), select(is_middle, a.like(std::numbers::pi / 4), a.like(0.0)));
  const double low = is_f32(x) ? -4.37113883e-8 : 6.123233995736766e-17;  // pi / 2 less its rounded value
  const Value correction = select(is_large, a.like(low), select(is_middle, a.like(low / 2), a.like(0.0)));
  const Value z = t * t;
  Value sum = z.like(0.0);
  for (int n = is_f32(x) ? 19 : 43; n >= 3; n -= 2) sum = (sum + (n % 4 == 1 ? 1.0 : -1.0) / n) * z;
  const Value y = offset + ((t * sum + correction) + t);
  return with_sign_of(x, select(is_nan(x), x, fabs(y)));
}

Value asin(Value x) { return atan(x / sqrt((1.0F - x) * (x + 1.0F))); }
Value acos(Value x) { return atan(sqrt((1.0F - x) / (x + 1.0F))) * 2.0F; }

Value atan2(Value y, Value x) {
  const Value a = fabs(x), b = fabs(y), is_steep = a < b;
  const Value most = select(is_steep, b, a), least = select(is_steep, a, b);
  const Value both_infinite = least == infinity(x);
  const Value ratio = select(both_infinite, x.number(1), least / select(most == 0.0F, x.number(1), most));
  const double low = is_f32(x) ? -4.37113883e-8 : 6.123233995736766e-17;
  const Value first = atan(ratio);
  const Value second = select(is_steep, (x.like(low) - first) + std::numbers::pi / 2, first);
  const auto bits = format_of(x.type).whole;
  const Value third = select(bits_as(bits, x) < 0, (x.like(2 * low) - second) + std::numbers::pi, second);
  const Value sum = x + y;  // NaN where one of them is, or infinities of two signs
  return select(is_nan(x) || is_nan(y), sum, with_sign_of(y, fabs(third)));
}

}  // namespace burn::compile::kernel
