// Operations of an integer tensor and a number of any size, sign and fraction. The number's exact value counts; it is
// not converted to the tensor's dtype: {0, 1, 2} is lower than 0.5 in its first element, and every i8 is lower than
// 300.
#pragma once

#include <string_view>

#include "client/ops/ops.h"

namespace burn::client {

// The least and the largest number of an integer dtype.
struct IntegerRange {
  Scalar::Whole lowest, highest;
  bool contains(Scalar::Whole x) const { return x >= lowest && x <= highest; }
};
IntegerRange range_of(ir::DType dtype);

// fn(x, number) for x of the dtype, with a number in the dtype's range, so that it can be an operand of a program.
struct IntegerOperation {
  ir::PointwiseFn fn;
  Scalar number;
};

// The operation on integers that is equivalent to fn(x, number):
// * Comparisons use the exact value. If the result is the same for every x of the dtype, as for NaN, the operation is a
//   comparison that is always false or always true.
// * The bound of max is rounded up to a whole number, that of min down; both are clamped to the range of the dtype.
// * Arithmetic is computed in the dtype, so it takes whole numbers. For sums, products and bitwise operations the
//   number wraps as integers do; otherwise it has to be in range. Errors (thrown): a fraction; a number out of range.
IntegerOperation with_integers(ir::PointwiseFn fn, Scalar number, ir::DType dtype, const Site& site);

// Rounds a number that an integer tensor is filled with toward zero. Errors (thrown): the dtype cannot represent it.
Scalar integer_to_store(Scalar number, ir::DType dtype, const Site& site);

// Returns the number itself. Errors (thrown): the dtype cannot represent it. For arguments of captured steps, whose
// values are not known when the program is recorded.
const Scalar& exact_integer(const Scalar& number, ir::DType dtype, const Site& site);

}  // namespace burn::client
