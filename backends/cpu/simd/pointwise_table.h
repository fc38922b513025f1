// Finds the loops of the pointwise functions. There are many, so the classes are spread over several files.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/half.h"
#include "ir/dispatch.h"
#include "ir/ops/pointwise.h"

namespace burn::backends::cpu {

// Over n elements: a contiguous result, operands with strides in elements (0: the same element for all).
using RunLoop = void (*)(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides);

// The dtype whose loop is used for operands of a dtype.
ir::DType loop_dtype(ir::PointwiseClass kind, ir::DType operand);

// The fastest loop for that dtype, which must come from loop_dtype(); null as below.
RunLoop pointwise_loop(ir::PointwiseFn fn, ir::DType dtype);

// One function per file. Null for functions of other classes and for dtypes that the function does not take. 16-bit
// floats have no loops of their own: they are widened to f32. Select moves bytes: it has loops for the unsigned
// integers only.
RunLoop numeric_loop(ir::PointwiseFn fn, ir::DType dtype);   // numeric, integral
RunLoop floating_loop(ir::PointwiseFn fn, ir::DType dtype);  // floating, test
RunLoop logic_loop(ir::PointwiseFn fn, ir::DType dtype);     // compare, logical, choose

template <ir::PointwiseClass kClass, typename T>
using PointwiseResult =
    std::conditional_t<kClass == ir::PointwiseClass::compare || kClass == ir::PointwiseClass::test, bool, T>;

// Whether loops over T are compiled for a class.
template <typename T>
constexpr bool takes(ir::PointwiseClass kind) {
  constexpr bool is_bool = std::is_same_v<T, bool>, is_float = std::is_floating_point_v<T>;
  constexpr bool is_integer = std::is_integral_v<T> && !is_bool;
  switch (kind) {
    case ir::PointwiseClass::numeric:
      return is_float || is_integer;
    case ir::PointwiseClass::floating:
      return is_float;
    case ir::PointwiseClass::integral:
      return is_integer;
    case ir::PointwiseClass::logical:
      return is_bool;
    case ir::PointwiseClass::compare:
      return is_float || is_integer || is_bool;
    case ir::PointwiseClass::test:
      return is_float;
    case ir::PointwiseClass::choose:
      return is_integer && std::is_unsigned_v<T>;
  }
  return false;
}

}  // namespace burn::backends::cpu
