// What describes and draws from tensors, as composites: order statistics, covariance, sums in the logarithm's domain,
// closeness, samples. No op and no gradient rule of their own. Where not said otherwise, `dim` stays with size 1.
#pragma once

#include <cstdint>

#include "client/ops/ops.h"

namespace burn::client {

// Sums and products computed in, and given in, `dtype`: the elements are converted first. What reduce() and scan()
// (client/ops/ops.h) choose by themselves: i64 for integers narrower than that and for bools.
Value reduce_in(ir::DType dtype, ir::ReduceFn fn, const Value& x, const ir::Dims& axes, const Site& site);
Value reduce_all_in(ir::DType dtype, ir::ReduceFn fn, const Value& x, const Site& site);  // -> [1]
Value scan_in(ir::DType dtype, ir::ReduceFn fn, const Value& x, std::int64_t axis, const Site& site);

// The extreme element along `dim`; NaN wins. Its gradient goes to the first of equals. `fn`: max or min.
Value extreme(ir::ReduceFn fn, const Value& x, std::int64_t dim, const Site& site);
// The extreme element along `dim` and the index (i64) of its first occurrence; NaN wins.
Indexed extreme_with_indices(ir::ArgFn fn, const Value& x, std::int64_t dim, const Site& site);
Value max_abs(const Value& x, const ir::Dims& dims, const Site& site);
Value max_abs_all(const Value& x, const Site& site);  // -> [1]
// The lower of the two middle elements where their count is even; NaN, and where the first one is, if there is any.
Indexed median(const Value& x, std::int64_t dim, const Site& site);
// Of observations along `dim` and variables along the other dim: [variables, variables], sums of centred products
// divided by n - correction.
Value cov(const Value& x, std::int64_t dim, std::int64_t correction, const Site& site);

// log(sum(exp(x))) along `dim`, by way of the largest. Of nothing but -infinity: -infinity, with gradient 0.
Value logsumexp(const Value& x, std::int64_t dim, const Site& site);
// log(sum of exp(x[j]), j <= i), in log2(n) steps that double what is summed, so that nothing underflows.
Value logcumsumexp(const Value& x, std::int64_t dim, const Site& site);

Value is_finite(const Value& x, const Site& site);
// |x - y| <= atol + rtol |y|, or equal infinities. NaN is close to nothing.
Value is_close(const Value& x, const Value& y, double rtol, double atol, const Site& site);

// [..., 3, ...] each: x cross y along `dim`.
Value cross(const Value& x, const Value& y, std::int64_t dim, const Site& site);
Value dot(const Value& x, const Value& y, const Site& site);  // [n], [n] -> [1]

// Classes (i64 [..., samples]) drawn from weights [..., n] along the last dim, which need not sum to 1. With
// replacement; a class of weight 0 is never drawn unless all are 0. A weight below 0 or not a number counts as 0.
Value categorical(const Value& weights, std::int64_t samples, const Site& site);
// The same without replacement: each class at most once (samples <= n), those of weight 0 last.
Value draw_distinct(const Value& weights, std::int64_t samples, const Site& site);

}  // namespace burn::client
