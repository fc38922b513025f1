// Order statistics, covariance, sums of exponentials, closeness and sampling, as composites: they have no op and no
// gradient rule of their own. Unless stated otherwise, `dim` keeps size 1.
#pragma once

#include <cstdint>

#include "client/ops/ops.h"

namespace burn::client {

// Sums and products computed and returned in `dtype`, to which the elements are converted first. reduce() and scan()
// (client/ops/ops.h) choose it themselves: i64 for bools and for integers narrower than 64 bits.
Value reduce_in(ir::DType dtype, ir::ReduceFn fn, const Value& x, const ir::Dims& axes, const Site& site);
Value reduce_all_in(ir::DType dtype, ir::ReduceFn fn, const Value& x, const Site& site);  // -> [1]
Value scan_in(ir::DType dtype, ir::ReduceFn fn, const Value& x, std::int64_t axis, const Site& site);

// The extreme element along `dim`, or NaN if there is one. Its gradient goes to the first of equal elements. `fn`: max
// or min.
Value extreme(ir::ReduceFn fn, const Value& x, std::int64_t dim, const Site& site);
// The same, and the index (i64) of its first occurrence.
Indexed extreme_with_indices(ir::ArgFn fn, const Value& x, std::int64_t dim, const Site& site);
Value max_abs(const Value& x, const ir::Dims& dims, const Site& site);
Value max_abs_all(const Value& x, const Site& site);  // -> [1]
// The median along `dim`, for an even count the lower of the two middle elements, with its index; if there is a NaN,
// the first one.
Indexed median(const Value& x, std::int64_t dim, const Site& site);
// Covariance, with observations along `dim` and variables along the other dim: [variables, variables], sums of centred
// products divided by n - correction.
Value cov(const Value& x, std::int64_t dim, std::int64_t correction, const Site& site);

// log(sum(exp(x))) along `dim`, relative to the largest element. If all elements are -infinity: -infinity, with
// gradient 0.
Value logsumexp(const Value& x, std::int64_t dim, const Site& site);
// log(sum of exp(x[j]), j <= i), in log2(n) steps, each of which doubles the number of summed elements, so that nothing
// underflows.
Value logcumsumexp(const Value& x, std::int64_t dim, const Site& site);

Value is_finite(const Value& x, const Site& site);
// |x - y| <= atol + rtol |y|, or equal infinities. Always false for NaN.
Value is_close(const Value& x, const Value& y, double rtol, double atol, const Site& site);

// [..., 3, ...] each: x cross y along `dim`.
Value cross(const Value& x, const Value& y, std::int64_t dim, const Site& site);
Value dot(const Value& x, const Value& y, const Site& site);  // [n], [n] -> [1]

// Classes (i64 [..., samples]) drawn with replacement by the weights [..., n] along the last dim, which need not sum to
// 1. A class of weight 0 is never drawn unless all are 0. A weight that is negative or NaN counts as 0.
Value categorical(const Value& weights, std::int64_t samples, const Site& site);
// The same without replacement: each class is drawn at most once (samples <= n), classes of weight 0 last.
Value sample_without_replacement(const Value& weights, std::int64_t samples, const Site& site);

}  // namespace burn::client
