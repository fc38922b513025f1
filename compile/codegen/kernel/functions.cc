// Exponentials, logarithms, powers and what is made of them.
#include "compile/codegen/kernel/functions.h"

#include <vector>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

// 1/first!, 1/(first + 1)!, ...
std::vector<double> inverse_factorials(int first, int count) {
  double factorial = 1;
  for (int n = 2; n < first; ++n) factorial *= n;
  std::vector<double> all;
  for (int n = first; n < first + count; ++n) {
    factorial *= n == 0 ? 1 : n;
    all.push_back(1 / factorial);
  }
  return all;
}

// ln(2) in two parts, the first with so few bits that a whole multiple of it is exact (Cody and Waite).
double ln2_high(Value x) { return is_f32(x) ? 0x1.62e4p-1 : 0x1.62e42feep-1; }
double ln2_low(Value x) { return is_f32(x) ? 0x1.7f7d1cp-20 : 0x1.a39ef35793c76p-33; }

// e^x = 2^power * fraction, for x within the bounds.
struct Exponential {
  Value fraction, power;
};
Exponential exponential(Value x) {
  const Value n = rint(x * 1.4426950408889634);
  const Value r = fused_multiply_add(-n, x.like(ln2_low(x)), fused_multiply_add(-n, x.like(ln2_high(x)), x));
  const Value fraction = fused_multiply_add(r * r, polynomial(r, inverse_factorials(2, is_f32(x) ? 6 : 12)), r) + 1.0F;
  return {fraction, to(format_of(x.type).whole, n)};
}

// Beyond these e^x, and half of it, is 0 or infinite.
Value bounded(Value x) {
  const double low = is_f32(x) ? -105 : -747, high = is_f32(x) ? 91 : 712;
  return select(x < low, low, select(x > high, high, x));
}

// e^x by the device's own power of two of f32, about 1: 2^n beside it is made from the bits of a sum whose last place
// counts ones. What lies beyond the exponents of normal numbers stays in the device's argument.
Value exp_by_exp2(Value x) {
  constexpr double kLog2EHigh = 0x1.715476p0, kLog2ELow = 0x1.4ae0bf85ddf44p-26;
  constexpr double kLastPlaceIsOne = 0x1.8p23 + 127;
  const Value near = select(x < -87.0F, -87.0F, select(x > 87.0F, 87.0F, x));
  const Value sum = fused_multiply_add(near, x.like(kLog2EHigh), x.like(kLastPlaceIsOne));
  const Value n = sum - x.like(kLastPlaceIsOne);
  const Value rest = fused_multiply_add(x, x.like(kLog2ELow), fused_multiply_add(x, x.like(kLog2EHigh), -n));
  const Value power = bits_as(ir::DType::f32, bits_as(ir::DType::u32, sum) << 23);
  return unary(Code::exp2, rest) * power;
}

Value exp_times_power(Value x, int power) {
  const auto e = exponential(bounded(x));
  return times_power_of_two(e.fraction, e.power + power);
}

// x = 2^power * fraction, for positive finite x, which may be subnormal; the fraction is between sqrt(1/2) and sqrt(2).
struct SplitPower {
  Value fraction, power;  // both of the type of x
};
SplitPower split_power(Value x) {
  const auto format = format_of(x.type);
  const double smallest = is_f32(x) ? 0x1p-126 : 0x1p-1022;
  const std::int64_t root_half = is_f32(x) ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  const int scale = format.mantissa + 1;
  const Value is_subnormal = x < smallest;
  const Value normal = select(is_subnormal, x * (is_f32(x) ? 0x1p24 : 0x1p53), x);
  const Value bits = bits_as(format.whole, normal);
  const Value k = (bits - bits.like(root_half)) >> format.mantissa;
  return {bits_as(x.type, bits - (k << format.mantissa)),
          to(x.type, k - select(is_subnormal, k.number(scale), k.number(0)))};
}

// ln(x) for positive finite x, which may be subnormal.
Value log_of_positive(Value x) {
  const auto split = split_power(x);
  const Value m = split.fraction, n = split.power;
  // ln(1 + f) = 2 artanh(s) for s = f / (2 + f), ordered so that f itself is added last and exactly.
  const Value f = m - 1.0F, s = f / (f + 2.0F), z = s * s, half = f * f * 0.5F;
  std::vector<double> odd;
  for (int i = 3; i < (is_f32(x) ? 11 : 25); i += 2) odd.push_back(2.0 / i);
  const Value rest = z * polynomial(z, odd);
  return n * ln2_high(x) - ((half - (s * (half + rest) + n * ln2_low(x))) - f);
}

}  // namespace

Value sqrt(Value x) { return select(x < 0.0F, not_a_number(x), unary(Code::sqrt, x)); }

Value exp(Value x) {
  if (const auto own = call_own(Function::exp, x)) return *own;
  if (is_f32(x) && x.writer->has_exp2()) return exp_by_exp2(x);
  return exp_times_power(x, 0);
}

// Of small x a series without its 1; of others nothing is lost by taking it away.
Value expm1(Value x) {
  if (const auto own = call_own(Function::expm1, x)) return *own;
  const Value small = x * x * polynomial(x, inverse_factorials(2, is_f32(x) ? 8 : 15)) + x;
  const Value large = exp(x) - 1.0F;
  const Value is_small = fabs(x) < 0.5F;
  return select(is_small, select(x == 0.0F, x, small), large);  // -0 stays
}

Value log(Value x) {
  if (const auto own = call_own(Function::log, x)) return *own;
  const Value y = select(x == infinity(x), x, log_of_positive(x));
  const Value at_most_zero = select(x == 0.0F, -infinity(x), not_a_number(x));
  return select(x <= 0.0F, at_most_zero, select(is_nan(x), x, y));
}

// ln(u) for u = 1 + x, and what rounding took from u.
Value log1p(Value x) {
  if (const auto own = call_own(Function::log1p, x)) return *own;
  const Value u = x + 1.0F, lost = select(x < 1.0F, x - (u - 1.0F), 1.0F - (u - x));
  const Value y = log(u) + lost / u;
  return select(x == infinity(x) || x == 0.0F, x, select(x == -1.0F, -infinity(x), y));
}

Value sinh(Value x) {
  if (const auto own = call_own(Function::sinh, x)) return *own;
  const Value a = fabs(x), t = expm1(a), small = (t + t / (t + 1.0F)) * 0.5F;
  const Value half = exp_times_power(a, -1), large = half - 0.25F / half;
  return with_sign_of(x, fabs(select(a < 1.0F, small, large)));
}

Value cosh(Value x) {
  if (const auto own = call_own(Function::cosh, x)) return *own;
  const Value half = exp_times_power(fabs(x), -1);
  return half + 0.25F / half;
}

Value tanh(Value x) {
  if (const auto own = call_own(Function::tanh, x)) return *own;
  const Value a = fabs(x), most = a.like(is_f32(x) ? 10.0 : 22.0);
  const Value t = expm1(select(a > most, most, a) * 2.0F);
  return with_sign_of(x, fabs(t / (t + 2.0F)));
}

Value asinh(Value x) {
  if (const auto own = call_own(Function::asinh, x)) return *own;
  const Value a = fabs(x), root = sqrt(a * a + 1.0F);
  const Value small = log1p(a + a * a / (root + 1.0F));
  const Value large = log(a) + 0.69314718055994531;
  return with_sign_of(x, select(a > (is_f32(x) ? 0x1p13 : 0x1p28), large, select(x == 0.0F, a, small)));
}

Value acosh(Value x) {
  if (const auto own = call_own(Function::acosh, x)) return *own;
  const Value t = x - 1.0F;
  const Value y =
      select(x > (is_f32(x) ? 0x1p13 : 0x1p28), log(x) + 0.69314718055994531, log1p(t + sqrt(t * 2.0F + t * t)));
  return select(x < 1.0F, not_a_number(x), y);
}

Value atanh(Value x) {
  if (const auto own = call_own(Function::atanh, x)) return *own;
  const Value a = fabs(x), twice = a + a;
  const Value y = log1p(select(a < 0.5F, twice + twice * a / (1.0F - a), twice / (1.0F - a))) * 0.5F;
  return with_sign_of(x, select(x == 0.0F, a, y));
}

// f32: 1 - (1 - y)^8 with a polynomial y (backends/cpu/simd/float_math-inl.h has it, too). f64: the series up to 1;
// further out 1 - e^(-x^2) / sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + (3/2) / ...))).
Value erf(Value x) {
  if (const auto own = call_own(Function::erf, x)) return *own;
  const Value size = fabs(x);
  if (is_f32(x)) {
    const Value a = select(size > 3.95F, 3.95F, size);
    const Value p =
        polynomial(a - 3.0F, {0.010002001284754524, -0.016089914957928914, 0.0012623791780659208, 0.0005612394837785763,
                              -0.00017219480073329076, -2.464626569805953e-06, 4.800479318342747e-06});
    Value y = a * (a * 0.025 + 0.1410473883152008) + a * (a * p + 6.567115490296871e-09);
    for (int k = 0; k < 3; ++k) y = (y + y) - y * y;
    // Of small x the series: what y is made of there has too few bits.
    const Value z = a * a;
    const Value small = polynomial(z, {-0.37612638903183754, 0.11283791670955126, -0.026866170645131252,
                                       0.005223977625442188, -0.0008548327023450853, 0.00012055332981789664});
    return with_sign_of(x, select(a < 0.5F, a * 1.1283791670955126 + a * (z * small), y));
  }
  const Value a = select(size > 6.0F, 6.0F, size);
  // e^(-a^2) with a^2 in two parts, the first of them exact.
  auto& writer = *x.writer;
  const Value mask = writer.constant(ir::DType::u64, ~std::int64_t{0x7ffffff});
  const Value high = bits_as(x.type, bits_as(ir::DType::u64, a) & mask);
  const Value bell = exp(-(high * high)) * exp((high - a) * (high + a));
  std::vector<double> alternating;  // 1, -1/(1! 3), 1/(2! 5), ...
  for (int n = 0; const auto inverse : inverse_factorials(0, 20))
    alternating.push_back((n % 2 == 0 ? inverse : -inverse) / (2 * n + 1)), ++n;
  const auto result = writer.variable(a * polynomial(a * a, alternating) * 1.1283791670955126);
  writer.when(a > 1.0F, [&] {
    constexpr int kTerms = 180;  // leave less than 2^-54 of the result at 1, and less further out
    const auto divisor = writer.variable(a);
    writer.loop(writer.index(kTerms), [&](Value n) { divisor.set(a + to(x.type, kTerms - n) * 0.5F / divisor.get()); });
    result.set(1.0F - bell * 0.56418958354775629 / divisor.get());
  });
  return with_sign_of(x, select(is_nan(x), x, result.get()));
}

namespace {

// ln(x) for positive finite x: as log_of_positive(), with s and s^3 in pairs.
Pair log_pair(Value x) {
  const auto split = split_power(x);
  const Value n = split.power, f = split.fraction - 1.0F;
  const Value divisor = f + 2.0F, lost = f - (divisor - 2.0F), s = f / divisor;
  const auto back = exact_product(s, divisor);
  const Value s_low = (((f - back.high) - back.low) - s * lost) / divisor;
  // 2 s + 2/3 s^3 + 2/5 s^5 + ...
  auto square = exact_product(s, s);
  square.low = square.low + s * s_low * 2.0F;
  auto cube = exact_product(square.high, s);
  cube.low = cube.low + square.low * s + square.high * s_low;
  auto third = exact_product(cube.high, x.like(2.0 / 3));
  const double rounded_off = is_f32(x) ? -1.9868215e-08 : 3.700743415417188e-17;  // 2/3 less its rounded value
  third.low = third.low + cube.low * (2.0 / 3) + cube.high * rounded_off;
  std::vector<double> odd;
  for (int i = 5; i < (is_f32(x) ? 15 : 25); i += 2) odd.push_back(2.0 / i);
  const Value rest = square.high * square.high * s * polynomial(square.high, odd);
  const auto first = exact_sum(n * ln2_high(x), s * 2.0F), second = exact_sum(first.high, third.high);
  const Value low = ((first.low + second.low) + (n * ln2_low(x) + s_low * 2.0F)) + (third.low + rest);
  return exact_sum(second.high, low);
}

// |a|^b. With a logarithm of one number its rounding would count as often as the result's exponent is large.
Value power_of_magnitude(Value a, Value b) {
  const Value magnitude = fabs(a);
  const Value plain = b * log(magnitude);
  const double far = is_f32(a) ? 0x1p32 : 0x1p70;  // with such an exponent the power is 0, 1 or infinite
  const Value near = select(fabs(b) > far, with_sign_of(b, b.like(far)), b);
  const auto logarithm = log_pair(magnitude);
  const auto exponent = exact_product(near, logarithm.high);
  const Value low = exponent.low + near * logarithm.low;
  const auto e = exponential(bounded(exponent.high));
  const Value is_plain = magnitude == 0.0F || magnitude == infinity(a) || is_nan(a) || is_nan(b) ||
                         fabs(plain) > (is_f32(a) ? 110.0 : 750.0);
  return select(is_plain, exp(plain), times_power_of_two(e.fraction * (low + 1.0F), e.power));
}

}  // namespace

Value power(Value a, Value b) {
  if (const auto own = call_own(Function::pow, a, b)) return *own;
  const Value magnitude = fabs(a), half = b * 0.5F;
  const Value is_whole = trunc(b) == b, is_odd = is_whole && trunc(half) != half;
  const Value size = power_of_magnitude(a, b);
  // The sign bit of a, which -0 has, too.
  const Value is_negative = bits_as(format_of(a.type).whole, a) < 0;
  const Value signed_size = select(is_negative && is_odd, -size, size);
  const Value undefined = a < 0.0F && !is_whole && magnitude != infinity(a);
  const Value one = a.number(1);
  const Value is_one = b == 0.0F || a == 1.0F || (magnitude == 1.0F && fabs(b) == infinity(b));
  return select(is_one, one, select(is_nan(a) || is_nan(b) || undefined, not_a_number(a), signed_size));
}

}  // namespace burn::compile::kernel
