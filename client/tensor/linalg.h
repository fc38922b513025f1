// Linear algebra on tensors: burn::linalg::vector_norm(x, 2, -1). Templates check the rank, client/ops/norms.h says
// what is computed.
#pragma once

#include <limits>

#include "client/ops/norms.h"
#include "client/tensor/tensor.h"

namespace burn::linalg {

template <int D>
Tensor<D> vector_norm(const Tensor<D>& x, double p, int dim, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_norm(x.value(), p, dim, at(where))};
}
template <int D>
Tensor<D> lp_norm(const Tensor<D>& x, double p, int dim, Loc where = Loc::current()) {
  return vector_norm(x, p, dim, where);
}
template <int D>
Tensor<D> l0_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return vector_norm(x, 0, dim, where);
}
template <int D>
Tensor<D> l1_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return vector_norm(x, 1, dim, where);
}
template <int D>
Tensor<D> l2_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return vector_norm(x, 2, dim, where);
}
template <int D>
Tensor<D> max_abs_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return vector_norm(x, std::numeric_limits<double>::infinity(), dim, where);
}
template <int D>
Tensor<D> min_abs_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return vector_norm(x, -std::numeric_limits<double>::infinity(), dim, where);
}
template <int D>
Tensor<D> vector_normalize(const Tensor<D>& x, double p, int dim, double eps = 1e-12, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_normalize(x.value(), p, dim, eps, at(where))};
}
template <int D>
Tensor<D> cosine_similarity(const Tensor<D>& a, const Tensor<D>& b, int dim, double eps = 1e-8,
                            Loc where = Loc::current()) {
  return Tensor<D>{client::cosine_similarity(a.value(), b.value(), dim, eps, at(where))};
}

// [..., n, m] -> [..., min(n, m)]
template <int D, Kind K>
  requires(D >= 2)
Tensor<D - 1, K> diag(const Tensor<D, K>& x, Loc where = Loc::current()) {
  return Tensor<D - 1, K>{client::diag(x.value(), at(where))};
}
// [..., n, m] -> [..., 1]
template <int D, Kind K>
  requires(D >= 2 && Numeric<K>)
Tensor<D - 1, K> trace(const Tensor<D, K>& x, Loc where = Loc::current()) {
  return Tensor<D - 1, K>{client::trace(x.value(), at(where))};
}
// [..., i], [..., j] -> [..., i, j]
template <int D, Kind K>
  requires Numeric<K>
Tensor<D + 1, K> outer(const Tensor<D, K>& a, const Tensor<D, K>& b, Loc where = Loc::current()) {
  return Tensor<D + 1, K>{client::outer(a.value(), b.value(), -1, at(where))};
}
template <int D, Kind K>
  requires Numeric<K>
Tensor<D + 1, K> outer_dim(const Tensor<D, K>& a, const Tensor<D, K>& b, int dim, Loc where = Loc::current()) {
  return Tensor<D + 1, K>{client::outer(a.value(), b.value(), dim, at(where))};
}
// [..., n, k], [..., k] -> [..., n]
template <int D, Kind K>
  requires(D >= 2 && Numeric<K>)
Tensor<D - 1, K> matvec(const Tensor<D, K>& matrix, const Tensor<D - 1, K>& vector, Loc where = Loc::current()) {
  return Tensor<D - 1, K>{client::matvec(matrix.value(), vector.value(), at(where))};
}

}  // namespace burn::linalg
