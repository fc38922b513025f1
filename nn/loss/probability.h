// Clamps probabilities so that their logarithms are finite: a loss of 0 * infinity, or its gradient, would be NaN.
#pragma once

#include "client/ops/formula.h"

namespace burn::nn::detail {

// For f32 and f64, in which losses are computed. At least the smallest normal number of f32.
inline client::Value above_zero(const client::Value& p) { return max(p, 0x1p-126); }

// At most the largest number below 1.
inline client::Value below_one(const client::Value& p) {
  return min(p, p.dtype() == ir::DType::f64 ? 1 - 0x1p-53 : 1 - 0x1p-24);
}

}  // namespace burn::nn::detail
