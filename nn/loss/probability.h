// Keeping probabilities away from where a logarithm is infinite: a loss of 0 * infinity, or its gradient, would be NaN.
#pragma once

#include "client/formula.h"

namespace burn::nn::detail {

// At least the smallest normal number of the dtype.
inline client::Term above_zero(const client::Term& p) {
  return max(p, p.value().dtype() == ir::DType::f16 ? 0x1p-14 : 0x1p-126);
}

// At most the largest number below 1 of the dtype.
inline client::Term below_one(const client::Term& p) {
  switch (p.value().dtype()) {
    case ir::DType::f64:
      return min(p, 1 - 0x1p-53);
    case ir::DType::f16:
      return min(p, 1 - 0x1p-11);
    case ir::DType::bf16:
      return min(p, 1 - 0x1p-8);
    default:
      return min(p, 1 - 0x1p-24);
  }
}

}  // namespace burn::nn::detail
