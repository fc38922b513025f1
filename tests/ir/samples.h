// One or more valid uses of every op, small enough for any test, for tests that cover the whole op set.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/op.h"

namespace burn::ir {

struct Sample {
  Op op;
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
};

const std::vector<Sample>& samples();

// Calls infer() for operands that are passed by value.
Result<TypeList> infer_types(const Op& op, std::span<const TensorType> operands);
// The inferred types as text: "f32[2, 3]", "f32[2, 3], i64[2, 3]", or the error.
std::string inferred(const Op& op, std::vector<TensorType> operands);
// "f32[2, 3], i64[2, 3]"
std::string to_string(std::span<const TensorType> types);

}  // namespace burn::ir
