// Functions that read and write tensors at indices held by other tensors, as composites of gather() and scatter(). An
// index out of range is an error of the run, which the next read reports with the call site.
#pragma once

#include <cstdint>

#include "client/ops/ops.h"

namespace burn::client {

// x[..., n, ...] at `indices` of any rank: [..., *indices, ...].
Value take(const Value& x, std::int64_t dim, const Value& indices, const Site& site);
// x, indices int [*batch, k] -> [*batch, *x.shape[k:]]: each row of indices is a position in the first k dims of x.
Value gather_nd(const Value& x, const Value& indices, const Site& site);
// x with the elements at the positions `indices` combined with `values` [*batch, *x.shape[k:]]. A position that occurs
// more than once is combined with all of its values for add, mul, max and min, and gets the last one for assign. Except
// for add, gradients assume that positions are distinct.
Value scatter_nd(const Value& x, const Value& indices, const Value& values, ir::ScatterFn fn, const Site& site);
// Adds a dim at `axis` (of the result): `on` at the class that x holds, `off` elsewhere. Negative classes count from
// the end; for a class out of range all elements are `off`.
Value one_hot_fill(const Value& x, std::int64_t classes, Scalar on, Scalar off, std::int64_t axis, const Site& site);

}  // namespace burn::client
