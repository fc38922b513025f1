// Operators over client::Value, so that update rules read as formulas. Only for the .cc files of this folder.
#pragma once

#include "train/optim/site.h"

namespace burn::optim::math {

using client::Value;
using detail::here;

#define BURN_VALUE_OPERATOR(op, fn)                              \
  inline Value operator op(const Value& a, const Value& b) {     \
    return client::pointwise(ir::PointwiseFn::fn, a, b, here()); \
  }
BURN_VALUE_OPERATOR(+, add)
BURN_VALUE_OPERATOR(-, sub)
BURN_VALUE_OPERATOR(*, mul)
BURN_VALUE_OPERATOR(/, div)
BURN_VALUE_OPERATOR(>=, greater_equal)
BURN_VALUE_OPERATOR(==, equal)
#undef BURN_VALUE_OPERATOR

inline Value sqrt(const Value& x) { return client::pointwise(ir::PointwiseFn::sqrt, x, here()); }
inline Value max(const Value& a, const Value& b) { return client::pointwise(ir::PointwiseFn::max, a, b, here()); }
inline Value select(const Value& condition, const Value& a, const Value& b) {
  return client::select(condition, a, b, here());
}
inline Value zeros_like(const Value& x) { return client::filled(client::place_of(x), x.shape(), 0, x.dtype(), here()); }

}  // namespace burn::optim::math
