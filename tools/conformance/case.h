// One line of a vector file: an op, its inputs and parameters, and the expected outputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "client/tensor/data.h"

namespace burn::conformance {

// A view that is applied to an input before the op gets it.
struct View {
  enum class Kind { none, permute, slice, expand } kind = Kind::none;
  std::vector<std::int64_t> numbers;              // axes or shape
  std::vector<std::vector<std::int64_t>> ranges;  // [start, end] or [start, end, step]
};

struct InputGradient {
  std::size_t index;
  TensorData data;
};

struct Case {
  std::string id, op;
  std::vector<std::optional<TensorData>> inputs;
  std::vector<View> views;  // one per input
  boost::json::object params;
  std::vector<TensorData> outputs;
  std::vector<std::optional<TensorData>> cotangents;  // empty: forward only
  std::vector<InputGradient> gradients;
  double rtol = 0, atol = 0;
};

// Errors (thrown): a line that does not have the format; the message says what is wrong.
Case parse_case(const std::string& line);

// Throws, naming the first element that differs. Requires equal shapes and |got - want| <= atol + rtol * |want|; NaN
// matches NaN, and an infinity itself. Integers and bools must be equal, but only modulo 2^bits of the wanted dtype if
// that of `got` is wider.
void compare(const TensorData& got, const TensorData& want, double rtol, double atol, const std::string& what);

}  // namespace burn::conformance
