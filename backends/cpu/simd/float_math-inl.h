// Elementary functions of f32 vectors, for every instruction set that Highway compiles this file for.
//
// Each is within a few units in the last place of the exact value (tests/backends/vector_math_test.cc holds them to
// it), passes NaN on, and has the limits of the C library at infinities, zeros and subnormals. Coefficients are
// least-squares fits, reweighted until the largest relative error is minimal, rounded to f32.
#if defined(BURN_FLOAT_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_FLOAT_MATH_INL_H
#undef BURN_FLOAT_MATH_INL_H
#else
#define BURN_FLOAT_MATH_INL_H
#endif

#include "backends/cpu/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {

using I = hn::RebindToSigned<F>;
using VI = hn::Vec<I>;

// c[0] + c[1] x + c[2] x^2 + ...
template <typename T, typename... Rest>
HWY_INLINE T polynomial(T x, double first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return constant<T>(first);
  else
    return mul_add(polynomial(x, rest...), x, constant<T>(first));
}

// x 2^k for |k| <= 252, in two steps, so that neither factor leaves the range.
HWY_INLINE V scale(V x, VI k) {
  const I i;
  const auto half = hn::ShiftRight<1>(k), bias = hn::Set(i, 127);
  const auto power = [&](VI e) { return hn::BitCast(F(), hn::ShiftLeft<23>(hn::Add(e, bias))); };
  return hn::Mul(hn::Mul(x, power(half)), power(hn::Sub(k, half)));
}

HWY_INLINE V keep_nan(V x, V y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

// e^r for |r| <= ln(2) / 2.
template <typename T>
HWY_INLINE T exp_near_zero(T r) {
  return polynomial(r, 1, 1, 0.5, 0.166665181517601, 0.04166620597243309, 0.008368953131139278, 0.0013950602151453495);
}

// x - n ln(2), with ln(2) in two parts (Cody and Waite's reduction).
template <typename T>
HWY_INLINE T without_ln2(T x, T n) {
  return neg_mul_add(n, constant<T>(1.428606765330187e-06), neg_mul_add(n, constant<T>(0.693145751953125), x));
}

// Where the functions below named `fast_...` are valid; outside, and for NaN, call those without the prefix.
constexpr float kExpRange = 87, kSineRange = 8192;

// e^x = 2^k e^r. Adding this constant rounds to an integer and leaves it in the lowest bits, from which it is shifted
// into the exponent.
constexpr double kRoundingBias = 12582912;  // 1.5 * 2^23

HWY_INLINE V add_to_exponent(V x, V lowest_bits) {
  const I i;
  return hn::BitCast(F(), hn::Add(hn::BitCast(i, x), hn::ShiftLeft<23>(hn::BitCast(i, lowest_bits))));
}
template <typename T>
HWY_INLINE Two<T> add_to_exponent(Two<T> x, Two<T> bits) {
  return {add_to_exponent(x.a, bits.a), add_to_exponent(x.b, bits.b)};
}

HWY_INLINE V power_of_lowest_bits(V x) { return hn::BitCast(F(), hn::ShiftLeft<23>(hn::BitCast(I(), x))); }
template <typename T>
HWY_INLINE Two<T> power_of_lowest_bits(Two<T> x) {
  return {power_of_lowest_bits(x.a), power_of_lowest_bits(x.b)};
}

// e^x as the product of `fraction` and `power`, for x up to kExpRange and NaN; results below 2^-126 become 2^-126.
// Accurate to 1.7e-7 for numbers near 0, and to 2e-8 |x| more for others, whose e^x is smaller: for sums in which the
// largest term is 1.
template <typename T>
HWY_INLINE void split_exp(T x, T& fraction, T& power) {
  const T bounded = max(constant<T>(-87.3), x), bias = constant<T>(kRoundingBias + 127);
  const T log2e = constant<T>(1.4426950408889634), shifted = mul_add(bounded, log2e, bias);
  const T f = mul_sub(bounded, log2e, sub(shifted, bias));
  fraction = polynomial(f, 1, 0.6931470036506653, 0.24022242426872253, 0.05550733581185341, 0.009671512991189957,
                        0.001326472731307149);
  power = power_of_lowest_bits(shifted);
}

template <typename T>
HWY_INLINE T fast_exp(T x) {
  const T bias = constant<T>(kRoundingBias);
  const T shifted = mul_add(x, constant<T>(1.4426950408889634), bias);
  return add_to_exponent(exp_near_zero(without_ln2(x, sub(shifted, bias))), shifted);
}

// Also correct where e^x is infinite, subnormal or zero.
HWY_INLINE V exp(V x) {
  const V bounded = hn::Min(hn::Max(x, constant<V>(-104)), constant<V>(89));  // beyond: 0 and infinity
  const VI k = hn::NearestInt(hn::Mul(bounded, constant<V>(1.4426950408889634)));
  const V e = exp_near_zero(without_ln2(bounded, hn::ConvertTo(F(), k)));
  return keep_nan(x, scale(e, k));
}

// AVX-512 multiplies by 2^k for any k in one instruction, rounding once: one form serves all x.
#undef BURN_SCALES_ANYWHERE
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define BURN_SCALES_ANYWHERE 1
#else
#define BURN_SCALES_ANYWHERE 0
#endif

#if BURN_SCALES_ANYWHERE
HWY_INLINE V times_power(V x, V k) { return V{_mm512_scalef_ps(x.raw, k.raw)}; }
template <typename T>
HWY_INLINE Two<T> times_power(Two<T> x, Two<T> k) {
  return {times_power(x.a, k.a), times_power(x.b, k.b)};
}
// For x up to 89, and NaN.
template <typename T>
HWY_INLINE T scaled_exp_up_to_89(T x) {
  const T bounded = max(constant<T>(-104), x);  // beyond: 0; NaN passes
  const T bias = constant<T>(kRoundingBias);
  const T k = sub(mul_add(bounded, constant<T>(1.4426950408889634), bias), bias);
  return times_power(exp_near_zero(without_ln2(bounded, k)), k);
}
template <typename T>
HWY_INLINE T scaled_exp(T x) {
  return scaled_exp_up_to_89(min(constant<T>(89), x));  // beyond: infinity
}
#endif

// ln(x) = k ln(2) + ln(1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
HWY_INLINE V log(V x) {
  const I i;
  const F f32;
  const V smallest = constant<V>(1.17549435e-38);
  const auto subnormal = hn::Lt(x, smallest);
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, constant<V>(8388608)), x);
  const VI bits = hn::BitCast(i, normal);
  // The exponent of x / sqrt(1/2), so that the mantissa falls into [sqrt(1/2), sqrt(2)).
  const VI k = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(i, 0x3f3504f3)));
  const V m = hn::BitCast(f32, hn::Sub(bits, hn::ShiftLeft<23>(k)));
  const V n = hn::Sub(hn::ConvertTo(f32, k), hn::IfThenElseZero(subnormal, constant<V>(23)));
  const V f = hn::Sub(m, constant<V>(1)), f2 = hn::Mul(f, f);
  const V p = polynomial(f, 0.3333331346511841, -0.25000008940696716, 0.2000211924314499, -0.1666799634695053,
                         0.14219552278518677, -0.1240558922290802, 0.11888162046670914, -0.11675652116537094,
                         0.06746641546487808);
  V y = hn::MulAdd(hn::Mul(f2, f), p, hn::Mul(n, constant<V>(1.428606765330187e-06)));
  y = hn::Add(hn::NegMulAdd(constant<V>(0.5), f2, y), f);
  y = hn::MulAdd(n, constant<V>(0.693145751953125), y);
  const V infinity = hn::Inf(f32);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(f32)), hn::Neg(infinity), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(f32)), hn::NaN(f32), keep_nan(x, y));
}

// ln(u) x / (u - 1) with u = 1 + x: the rounding error of u cancels (Kahan).
HWY_INLINE V log1p(V x) {
  const V one = constant<V>(1), u = hn::Add(x, one), d = hn::Sub(u, one);
  const V y = hn::Mul(log(u), hn::Div(x, d));
  const auto as_is = hn::Or(hn::Eq(d, hn::Zero(F())), hn::Eq(x, hn::Inf(F())));
  return hn::IfThenElse(as_is, x, hn::IfThenElse(hn::Eq(u, hn::Zero(F())), hn::Neg(hn::Inf(F())), y));
}

// e^x - 1: for small x by x + x^2 times a polynomial, otherwise by exp.
HWY_INLINE V expm1(V x) {
  const V p = polynomial(x, 0.5, 0.1666666716337204, 0.041666269302368164, 0.008333263918757439, 0.0013946176040917635,
                         0.000199185247765854);
  const V small = hn::MulAdd(hn::Mul(x, x), p, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), constant<V>(0.34657)), small, hn::Sub(exp(x), constant<V>(1)));
}

// x limited to +-bound. If one operand is NaN, Min and Max return the second, so NaN passes.
template <typename T>
HWY_INLINE T bounded_by(double bound, T x) {
  return max(constant<T>(-bound), min(constant<T>(bound), x));
}

// x P(x^2) / Q(x^2) up to where tanh is 1 in f32.
template <typename T>
HWY_INLINE T tanh(T x) {
  const T a = bounded_by(9.02, x), z = mul(a, a);
  const T p = polynomial(z, 1.0, 0.13680852949619293, 0.0038695044349879026, 2.8031241527060047e-05,
                         3.064236508976137e-08, -1.2246130325077598e-11);
  const T q =
      polynomial(z, 1.0, 0.47014185786247253, 0.027250142768025398, 0.0003940707247238606, 1.2890302514279028e-06);
  return bounded_by(1, div(mul(a, p), q));
}

#if BURN_SCALES_ANYWHERE
// erf(n / 8 + f) for |f| <= 1/16 is a polynomial of f, whose coefficients for each n one instruction selects from two
// registers. At 0 it is f + f q(f), so that small numbers lose no precision. The ends of neighbouring intervals have
// the largest weight in the fit, so erf never decreases, which was checked for every number up to 4.
alignas(64) inline constexpr float kErfTable[5][32] = {
    {0.f,          0.140316203f, 0.276326388f, 0.404116899f, 0.520499885f, 0.623240888f, 0.711155653f, 0.784075081f,
     0.842700779f, 0.888388216f, 0.92290014f,  0.948170066f, 0.966105163f, 0.978443742f, 0.986671686f, 0.99199003f,
     0.995322287f, 0.997345984f, 0.998537302f, 0.999217033f, 0.999593019f, 0.999794602f, 0.999899387f, 0.999952137f,
     0.999977887f, 0.999990106f, 0.999995708f, 0.999998212f, 0.999999285f, 0.999999702f, 0.999999881f, 0.99999994f},
    {0.128379151f,    1.11088419f,     1.06001329f,     0.980352342f,    0.878782511f,    0.763499856f,
     0.64293164f,     0.524745762f,    0.415108234f,    0.318274617f,    0.236521631f,    0.170360103f,
     0.118930452f,    0.0804722831f,   0.0527749248f,   0.0335457027f,   0.0206668433f,   0.0123406854f,
     0.00714220339f,  0.0040063872f,   0.00217821775f,  0.00114782923f,  0.000586247246f, 0.000290209631f,
     0.000139241965f, 6.47523921e-05f, 2.91856013e-05f, 1.27499525e-05f, 5.39852954e-06f, 2.21548748e-06f,
     8.81231244e-07f, 3.39732537e-07f},
    {7.18638512e-06f,  -0.138859436f,    -0.265001804f,    -0.367625207f,    -0.439395159f,    -0.477190375f,
     -0.482209831f,    -0.459164232f,    -0.415099263f,    -0.358049065f,    -0.295659006f,    -0.234240711f,
     -0.178405836f,    -0.130772829f,    -0.0923655033f,   -0.0628814101f,   -0.0413474925f,   -0.0262323953f,
     -0.0160815809f,   -0.00949795451f,  -0.00542822201f,  -0.00299974973f,  -0.0016179292f,   -0.000829682569f,
     -0.000403768005f, -0.000203813572f, -0.000101749698f, -5.96619066e-05f, -3.59527003e-05f, -6.26619476e-06f,
     5.2986838e-08f,   9.15256442e-06f},
    {-0.376686364f,   -0.358044028f,   -0.308647335f,   -0.234580666f,   -0.14641799f,    -0.0558601804f,
     0.0264365859f,   0.0924798995f,   0.137912884f,    0.162046209f,    0.167222679f,    0.157734707f,
     0.138652742f,    0.114826091f,    0.0902010798f,   0.0675176606f,   0.0483100265f,   0.0331204385f,
     0.0217954572f,   0.0137861408f,   0.00839083083f,  0.0049185371f,   0.00277876179f,  0.00151396031f,
     0.000795885513f, 0.000403870974f, 0.000197905305f, 9.36771903e-05f, 4.28444146e-05f, 1.89385009e-05f,
     8.09252015e-06f, 3.34343304e-06f},
    {0.0141777424f,    0.0684075281f,    0.12651366f,     0.165263385f,    0.183404773f,    0.176725283f,
     0.152279645f,     0.114194117f,     0.0679704398f,   0.0266800579f,   -0.00491055707f, -0.0309854914f,
     -0.0429385938f,   -0.0488333143f,   -0.0466663018f,  -0.0447942615f,  -0.0324121788f,  -0.0251461547f,
     -0.0173919592f,   -0.0157663208f,   -0.0112625854f,  -0.00744115422f, -0.0024156794f,  -0.00259685423f,
     -0.00314896693f,  -0.000343258114f, 0.000745939673f, 0.00235361443f,  0.00249268953f,  -0.000296617043f,
     -0.000518204994f, -0.00157798f},
};

HWY_INLINE V pick_of_32(V index, const float* table) {
  return V{
      _mm512_permutex2var_ps(hn::Load(F(), table).raw, _mm512_castps_si512(index.raw), hn::Load(F(), table + 16).raw)};
}
template <typename T>
HWY_INLINE Two<T> pick_of_32(Two<T> index, const float* table) {
  return {pick_of_32(index.a, table), pick_of_32(index.b, table)};
}

template <typename T>
HWY_INLINE T erf(T x) {
  const T a = min(constant<T>(3.93), magnitude(x));  // beyond it is 1
  const T bias = constant<T>(1572864);               // 1.5 * 2^20, whose last bits are eighths
  const T n = add(a, bias), f = sub(a, sub(n, bias));
  T q = pick_of_32(n, kErfTable[4]);
  for (int k = 3; k > 0; --k) q = mul_add(q, f, pick_of_32(n, kErfTable[k]));
  return with_sign_of(x, mul_add(q, f, max(pick_of_32(n, kErfTable[0]), f)));
}
#else
// erf(|x|) = 1 - (1 - y)^8, where a polynomial of |x| computes y up to where erf is 1 in f32. Squaring 1 - y, three
// times, is 2 y - y^2 for y itself, which keeps the digits of a small y and, rounded once, grows wherever y does. And y
// grows: most of it is the product inside the last mul_add, and the rest consists of small numbers, whose rounding
// error is less than a step of x.
template <typename T>
HWY_INLINE T erf(T x) {
  const T a = min(constant<T>(3.95), magnitude(x));
  const T p = polynomial(sub(a, constant<T>(3)), 0.010002001284754524, -0.016089914957928914, 0.0012623791780659208,
                         0.0005612394837785763, -0.00017219480073329076, -2.464626569805953e-06, 4.800479318342747e-06);
  const T rest = mul(a, mul_add(a, p, constant<T>(6.567115490296871e-09)));
  // Not computed earlier, or there would be more live numbers than registers.
  const T line = mul_add(a, constant<T>(0.025), constant<T>(0.1410473883152008));
  T y = mul_add(a, line, rest);
  for (int k = 0; k < 3; ++k) y = neg_mul_add(y, y, add(y, y));
  return with_sign_of(x, y);
}
#endif

template <typename T>
HWY_INLINE T fast_sigmoid(T x) {
  const T one = constant<T>(1);
  return div(one, add(one, fast_exp(sub(constant<T>(0), x))));
}
HWY_INLINE V sigmoid(V x) { return hn::Div(constant<V>(1), hn::Add(constant<V>(1), exp(hn::Neg(x)))); }

// Sine of x + quarter_turns pi / 2: reduced to [-pi/4, pi/4] by pi / 2 in three parts.
HWY_INLINE V fast_sin_turned(V x, int quarter_turns) {
  const I i;
  const VI k = hn::NearestInt(hn::Mul(x, constant<V>(0.6366197723675814)));
  const V n = hn::ConvertTo(F(), k);
  V r = hn::NegMulAdd(n, constant<V>(1.5703125), x);
  r = hn::NegMulAdd(n, constant<V>(0.0004837512969970703), r);
  r = hn::NegMulAdd(n, constant<V>(7.549790126404332e-08), r);
  const V z = hn::Mul(r, r);
  const V sine = hn::MulAdd(
      hn::Mul(r, z),
      polynomial(z, -0.1666666716337204, 0.008333329111337662, -0.00019839327433146536, 2.71823728326126e-06), r);
  const V cosine = hn::MulAdd(
      hn::Mul(z, z),
      polynomial(z, 0.0416666679084301, -0.0013888883404433727, 2.479951217537746e-05, -2.720954341839388e-07),
      hn::NegMulAdd(constant<V>(0.5), z, constant<V>(1)));
  const VI turns = hn::Add(k, hn::Set(i, quarter_turns));
  const auto is_odd = hn::RebindMask(F(), hn::TestBit(turns, hn::Set(i, 1)));
  const V sign = hn::BitCast(F(), hn::ShiftLeft<30>(hn::And(turns, hn::Set(i, 2))));
  return hn::Xor(hn::IfThenElse(is_odd, cosine, sine), sign);
}

}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
