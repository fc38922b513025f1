// Norms and small linear algebra, as composites: they have no op and no gradient rule of their own.
#pragma once

#include "client/ops/ops.h"

namespace burn::client {

// (sum |x|^p)^(1/p) along `axis`, which keeps size 1; p = infinity: the largest |x|, -infinity: the smallest, 0: the
// number of elements that are not 0. Gradients as PyTorch's: that of a zero vector is 0; elements of equal |x| share
// the gradient of the largest or smallest.
Value vector_norm(const Value& x, double p, std::int64_t axis, const Site& site);
Value vector_normalize(const Value& x, double p, std::int64_t axis, double eps,
                       const Site& site);  // x / max(norm, eps)
// a . b / (max(|a|, eps) max(|b|, eps)) along `axis`, which keeps size 1.
Value cosine_similarity(const Value& a, const Value& b, std::int64_t axis, double eps, const Site& site);

Value diag(const Value& x, const Site& site);   // [..., n, m] -> [..., min(n, m)]
Value trace(const Value& x, const Site& site);  // [..., n, m] -> [..., 1]
// [..., i, ...], [..., j, ...] -> [..., i, j, ...]: every product of two elements along `axis`.
Value outer(const Value& a, const Value& b, std::int64_t axis, const Site& site);
Value matvec(const Value& matrix, const Value& vector, const Site& site);  // [..., n, k], [..., k] -> [..., n]

}  // namespace burn::client
