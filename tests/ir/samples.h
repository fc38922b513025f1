// One or more valid uses of every op, small enough for any test: what walks over the op set starts here.
#pragma once

#include <span>
#include <vector>

#include "ir/op.h"

namespace burn::ir {

struct Sample {
  Op op;
  std::vector<TensorType> operands;
  TensorType result;
};

const std::vector<Sample>& samples();

// infer, for operands held by value.
Result<TensorType> infer_types(const Op& op, std::span<const TensorType> operands);

}  // namespace burn::ir
