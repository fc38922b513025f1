// Sines, tangents, their inverses, and lengths.
#include <array>
#include <numbers>
#include <vector>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

// x = quarter pi / 2 + rest + low, |rest| <= pi / 4; of the quarter its last two bits count, `low` is what rounding
// took from the rest.
struct ReducedAngle {
  Value quarter, rest, low;
};

// pi / 2 in parts whose multiples by a quarter are exact (Cody and Waite).
ReducedAngle turned_near(Value x) {
  const Value n = rint(x * 0.63661977236758138);
  static constexpr std::array<double, 4> kShort{0x1.921fp+0, 0x1.6a88p-17, 0x1.0b46p-34, 0x1.1a6264p-54};
  static constexpr std::array<double, 4> kLong{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69,
                                               0x1.b839a252049c1p-104};
  Value r = x, low = x.like(0.0);
  for (const auto part : is_f32(x) ? kShort : kLong) {
    const auto less = exact_sum(r, -(n * part));
    r = less.high;
    low = low + less.low;
  }
  const auto rest = exact_sum(r, low);
  return {to(ir::DType::i32, n), rest.high, rest.low};
}

// 2 / pi behind 64 zero bits, in words of 32 bits.
constexpr std::array<std::int64_t, 39> kTwoOverPi{
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x6492eea,  0x9d1921c,  0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};

// x 2 / pi, however large x is, from the bits of 2 / pi that matter (Payne and Hanek). x = m 2^e with a whole m, so the
// bits of 2 / pi in front of weight 2^(1 - e) make whole turns. 96 bits from there on are enough for f32, 192 for f64.
ReducedAngle turned_far(Value x) {
  using enum ir::DType;
  auto& writer = *x.writer;
  const auto format = format_of(x.type);
  const int last = is_f32(x) ? 2 : 5;  // word of the window, from its upper end
  const Value bits = bits_as(format.bits, fabs(x)),
              fraction = bits & bits.like((std::int64_t{1} << format.mantissa) - 1);
  const Value m = to(u64, fraction | bits.like(std::int64_t{1} << format.mantissa));
  const Value m_low = m & 0xffffffff, m_high = m >> 32;  // of f32, all of it is in the lower word
  const Value begin = to(i32, bits >> format.mantissa) + (62 - format.bias - format.mantissa);  // in the table's bits
  const Value first = begin >> 5, shift = to(u64, begin & 31);
  const int largest = is_f32(x) ? 127 : 1023;
  const int words = (62 + largest - format.mantissa) / 32 + 1;  // `first` is less
  std::vector<Value> window;
  Value before;
  for (int k = 0; k <= last + 1; ++k) {
    Value word = writer.constant(u64, kTwoOverPi[static_cast<std::size_t>(k)]);
    for (int at = 1; at < words; ++at)
      word =
          select(first == at, word.like(kTwoOverPi[static_cast<std::size_t>(at) + static_cast<std::size_t>(k)]), word);
    if (k > 0) window.push_back((((before << 32) | word) << shift) >> 32);
    before = word;
  }
  // m times the window, from its lower end; what is above it are whole turns.
  std::vector<Value> product(window.size());
  Value sum = m.like(std::int64_t{0});
  for (int k = last; k >= 0; --k) {
    const auto upper = [](Value a) { return a >> 32; };
    const auto lower = [](Value a) { return a & 0xffffffff; };
    const auto at = [&](int i) { return window[static_cast<std::size_t>(i)]; };
    sum = sum + lower(m_low * at(k));
    if (k < last) sum = sum + upper(m_low * at(k + 1));
    if (!is_f32(x) && k < last) sum = sum + lower(m_high * at(k + 1));
    if (!is_f32(x) && k + 1 < last) sum = sum + upper(m_high * at(k + 2));
    product[static_cast<std::size_t>(k)] = lower(sum);
    sum = upper(sum);
  }
  const Value turns = (product[0] << 32) | product[1];  // the upper two bits: quarters
  const Value quarter = (turns + turns.like(std::int64_t{1} << 61)) >> 62;
  const Value angle = bits_as(i64, turns - (quarter << 62)), high = to(x.type, angle);  // 2^62: a quarter
  Value low = to(x.type, angle - to(i64, high));
  if (!is_f32(x)) low = low + to(f64, (product[2] << 32) | product[3]) * 0x1p-64;
  const double half_pi_low = is_f32(x) ? -4.37113883e-8 : 6.123233995736766e-17;  // pi / 2 less its rounded value
  const Value part = high * 0x1p-62;
  const auto rest = exact_product(part, x.like(std::numbers::pi / 2));
  low = rest.low + (part * half_pi_low + low * (std::numbers::pi / 2 * 0x1p-62));
  const Value is_negative = x < 0.0F, whole = to(i32, quarter);
  return {select(is_negative, -whole, whole), select(is_negative, -rest.high, rest.high),
          select(is_negative, -low, low)};
}

ReducedAngle turned(Value x) {
  const auto near = turned_near(x);
  auto& writer = *x.writer;
  const auto quarter = writer.variable(near.quarter), rest = writer.variable(near.rest),
             low = writer.variable(near.low);
  writer.when(fabs(x) > (is_f32(x) ? 0x1p6 : 0x1p20), [&] {
    const auto far = turned_far(x);
    quarter.set(far.quarter);
    rest.set(far.rest);
    low.set(far.low);
  });
  return {quarter.get(), rest.get(), low.get()};
}

// Of r + low.
Value sine_near_zero(Value r, Value low) {
  const Value z = r * r;
  const Value p = is_f32(r) ? polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880})
                            : polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                             1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000});
  return r + (r * (z * p) + low);
}
Value cosine_near_zero(Value r, Value low) {
  const Value z = r * r;
  const Value p = is_f32(r) ? polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800})
                            : polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                             -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000});
  // 1 - z / 2 is rounded; what that took is added with the rest.
  const Value half = z * 0.5F, most = 1.0F - half;
  return most + (((1.0F - most) - half) + (z * z * p - r * low));
}

// sin(x + quarters pi / 2).
Value sine(Value x, int quarters) {
  const auto at = turned(x);
  const Value quarter = at.quarter + quarters;
  const Value size = select((quarter & 1) == 0, sine_near_zero(at.rest, at.low), cosine_near_zero(at.rest, at.low));
  const Value y = select((quarter & 2) == 0, size, -size);
  return select(fabs(x) < infinity(x), y, not_a_number(x));
}

}  // namespace

Value sin(Value x) {
  if (const auto own = call_own(Function::sin, x)) return *own;
  return select(x == 0.0F, x, sine(x, 0));
}
Value cos(Value x) {
  if (const auto own = call_own(Function::cos, x)) return *own;
  return sine(x, 1);
}

Value tan(Value x) {
  if (const auto own = call_own(Function::tan, x)) return *own;
  const auto at = turned(x);
  const Value s = sine_near_zero(at.rest, at.low), c = cosine_near_zero(at.rest, at.low);
  const Value y = select((at.quarter & 1) == 0, s, -c) / select((at.quarter & 1) == 0, c, s);
  return select(x == 0.0F, x, select(fabs(x) < infinity(x), y, not_a_number(x)));
}

// Of |x| above tan(3 pi / 8): pi / 2 - atan(1 / x); above tan(pi / 8): pi / 4 + atan((x - 1) / (x + 1)). f64 halves the
// angle twice more. Then the series x - x^3 / 3 + ..., cut where the rest is below half a unit.
Value atan(Value x) {
  if (const auto own = call_own(Function::atan, x)) return *own;
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

Value asin(Value x) {
  if (const auto own = call_own(Function::asin, x)) return *own;
  return atan(x / sqrt((1.0F - x) * (x + 1.0F)));
}
Value acos(Value x) {
  if (const auto own = call_own(Function::acos, x)) return *own;
  return atan(sqrt((1.0F - x) / (x + 1.0F))) * 2.0F;
}

Value atan2(Value y, Value x) {
  if (const auto own = call_own(Function::atan2, y, x)) return *own;
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

Value hypot(Value a, Value b) {
  if (const auto own = call_own(Function::hypot, a, b)) return *own;
  const Value x = fabs(a), y = fabs(b), is_less = x < y, most = select(is_less, y, x), least = select(is_less, x, y);
  const Value ratio = least / select(most == 0.0F, most.number(1), most);
  const Value is_infinite = x == infinity(x) || y == infinity(y);
  const Value sum = x + y;  // NaN where one of them is
  return select(is_infinite, infinity(x), select(is_nan(sum), sum, most * sqrt(ratio * ratio + 1.0F)));
}

}  // namespace burn::compile::kernel
