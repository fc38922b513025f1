// Small programs for every op of ir::catalogue(), with inputs. Tests run backends on them and compare the results with
// the reference.
//
// They cover dtypes, views that are not contiguous, rank 0, empty dims, NaN and infinity. An op without samples fails
// the tests that walk the catalogue.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "tests/reference/interpreter.h"

namespace burn::testing {

struct Sample {
  std::string name;  // "f32 transposed"
  ir::Program program;
  std::vector<reference::Tensor> inputs;
  reference::Bindings bindings;
  double slack = 1;      // multiplies the dtype's usual tolerance
  double cancelled = 0;  // the size of terms that cancel in a sum: the tolerance is relative to it
};

// `op`: a name of the catalogue. Empty for an unknown op.
std::vector<Sample> samples(std::string_view op);

// The position of the first element that differs by more than the tolerance of its dtype, and the two values; empty if
// none does. NaN equals NaN; whole numbers and bools must be the same.
std::string first_difference(const reference::Tensor& actual, const reference::Tensor& expected, double slack = 1,
                             double cancelled = 0);

}  // namespace burn::testing
