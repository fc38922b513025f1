// Elementary functions of f32 and f64 values, made of + - * / and bits: those of drivers are off by up to thousands of
// units in the last place. Each is within 4 units of the exact value (tests/compile/kernel/functions_test.cc), passes
// NaN on, and has the C library's values at zeros and infinities. Coefficients are those of the functions' series.
#pragma once

#include <initializer_list>
#include <vector>

#include "compile/codegen/kernel/value.h"

namespace burn::compile::kernel {

Value exp(Value x);
Value expm1(Value x);
Value log(Value x);
Value log1p(Value x);
Value sinh(Value x);
Value cosh(Value x);
Value tanh(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);
Value erf(Value x);
Value power(Value a, Value b);  // a^b

Value sin(Value x);
Value cos(Value x);
Value tan(Value x);
Value asin(Value x);
Value acos(Value x);
Value atan(Value x);
Value atan2(Value y, Value x);

Value sqrt(Value x);  // NaN below 0
Value fmod(Value a, Value b);
Value hypot(Value a, Value b);

inline Value floor(Value x) { return unary(Code::floor, x); }
inline Value ceil(Value x) { return unary(Code::ceil, x); }
inline Value rint(Value x) { return unary(Code::round_even, x); }
inline Value trunc(Value x) { return unary(Code::trunc, x); }
inline Value fabs(Value x) { return unary(Code::abs, x); }

// --- what they are made of -------------------------------------------------------------------------------------------

// The layout of a float in bits.
struct FloatFormat {
  ir::DType bits;   // the unsigned type of its size
  ir::DType whole;  // the signed one
  int mantissa;     // bits of it that are stored
  int bias;         // of the exponent
};
FloatFormat format_of(ir::DType type);
inline bool is_f32(Value x) { return x.type == ir::DType::f32; }

Value infinity(Value like);
Value not_a_number(Value like);
Value with_sign_of(Value sign, Value magnitude);                        // magnitude is not negative
Value polynomial(Value x, std::initializer_list<double> coefficients);  // c[0] + c[1] x + ...
Value polynomial(Value x, const std::vector<double>& coefficients);     // the same
// A number as the sum of two, the second far below the first: some 40 bits of f32, 100 of f64.
struct Pair {
  Value high, low;
};
Pair exact_sum(Value a, Value b);      // D. E. Knuth's
Pair exact_product(Value a, Value b);  // T. J. Dekker's; requires: no more than 2^114 (f32), 2^990 (f64)
Value times_power_of_two(Value x,
                         Value power);  // power: of the signed type; rounds twice where the result is subnormal

}  // namespace burn::compile::kernel
