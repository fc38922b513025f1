// Tensors read and written at places that other tensors hold, beyond gather() and scatter(), which these are made of.
// An index outside is an error of the run, reported by the next read with the call site.
#pragma once

#include <cstdint>

#include "client/ops/ops.h"

namespace burn::client {

// x[..., n, ...] at `indices` of any rank: [..., *indices, ...].
Value take(const Value& x, std::int64_t dim, const Value& indices, const Site& site);
// x, indices int [*batch, k] -> [*batch, *x.shape[k:]]: each row of indices is a place in the first k dims of x.
Value gather_nd(const Value& x, const Value& indices, const Site& site);
// x with the places that `indices` names combined with `values` [*batch, *x.shape[k:]]; a place named more than once
// gets all of them for add, mul, max and min, and the last one for assign. Gradients take places to be distinct, but
// for add.
Value scatter_nd(const Value& x, const Value& indices, const Value& values, ir::ScatterFn fn, const Site& site);
// A new dim at `axis` (of the result): `on` at the class that x holds, `off` elsewhere. Negative classes count from the
// end; one that does not exist is off everywhere.
Value one_hot_fill(const Value& x, std::int64_t classes, Scalar on, Scalar off, std::int64_t axis, const Site& site);

}  // namespace burn::client
