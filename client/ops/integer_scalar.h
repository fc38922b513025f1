// A number of any size, sign and fraction beside a tensor of integers. Values count, not what is left of them in the
// tensor's dtype: {0, 1, 2} is lower than 0.5 in its first element, and every i8 is lower than 300.
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

// fn(x, number) for x of the dtype, with a number that the dtype has: what the operand of a program can be.
struct IntegerOperation {
  ir::PointwiseFn fn;
  Scalar number;
};

// * Comparisons hold for the exact value; where no x of the dtype can tell, as for NaN, they become one that is always
// false, or true.
// * max and min take bounds: the least whole number from a lower one on, the largest up to an upper one, within the
// dtype.
// * Arithmetic stays in the dtype, so it takes whole numbers; sums, products and bits wrap as integers do, all else has
// to be
//   in range. Errors (thrown): a number that is not.
IntegerOperation with_integers(ir::PointwiseFn fn, Scalar number, ir::DType dtype, const Site& site);

// A number that a tensor of integers is filled with, toward zero. Errors (thrown): one that the dtype does not have.
Scalar integer_to_store(Scalar number, ir::DType dtype, const Site& site);

// The number itself, where the dtype has it. Errors (thrown): where it does not. For the arguments of captured steps,
// of which a recorded program cannot know what they will be.
const Scalar& exact_integer(const Scalar& number, ir::DType dtype, const Site& site);

}  // namespace burn::client
