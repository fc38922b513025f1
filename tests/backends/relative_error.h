// How far results as a whole are from what was expected: for sizes at which single elements may differ by much.
#pragma once

#include <cmath>

#include "tests/reference/interpreter.h"

namespace burn::testing {

// The root mean square of the differences, divided by that of the expected numbers.
inline double relative_error(const reference::Tensor& actual, const reference::Tensor& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double a = actual.get<double>(i), b = expected.get<double>(i);
    difference += (a - b) * (a - b);
    size += b * b;
  }
  return std::sqrt(difference / size);
}

}  // namespace burn::testing
