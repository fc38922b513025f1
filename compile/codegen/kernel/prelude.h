// The functions of ir/semantics/prelude.h over values, under the same names: what rows of ir/ops/pointwise.def call
// beyond operators.
#pragma once

#include "compile/codegen/kernel/functions.h"

namespace burn::compile::kernel::prelude {

using kernel::acos, kernel::acosh, kernel::asin, kernel::asinh, kernel::atan, kernel::atan2, kernel::atanh,
    kernel::ceil, kernel::cos, kernel::cosh, kernel::erf, kernel::exp, kernel::expm1, kernel::floor, kernel::fmod,
    kernel::hypot, kernel::infinity, kernel::log, kernel::log1p, kernel::rint, kernel::select, kernel::sin,
    kernel::sinh, kernel::sqrt, kernel::tan, kernel::tanh, kernel::trunc;

Value abs(Value x);
Value sign(Value x);
Value max(Value a, Value b);  // b where a < b, else a
Value min(Value a, Value b);
Value div(Value a, Value b);  // of whole numbers: toward zero, 0 where b is 0
Value remainder(Value a, Value b);
Value pow(Value a, Value b);
Value shift_left(Value a, Value b);
Value shift_right(Value a, Value b);

template <Number T>
Value max(Value a, T b) {
  return max(a, a.number(b));
}

}  // namespace burn::compile::kernel::prelude
