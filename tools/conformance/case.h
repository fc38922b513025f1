// One line of a vector file: an op, its inputs and parameters, and what must come out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "client/tensor/data.h"

namespace burn::conformance {

// What is done to an input before the op sees it.
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

// Errors (thrown): a line that is not of the format, saying what is wrong.
Case parse_case(const std::string& line);

// Throws, naming the first element that differs: equal shapes, |got - want| <= atol + rtol * |want|, NaN matches NaN,
// an infinity itself; integers and bools exactly, but modulo 2^bits of the wanted dtype where `got` has a wider one.
void compare(const TensorData& got, const TensorData& want, double rtol, double atol, const std::string& what);

}  // namespace burn::conformance
