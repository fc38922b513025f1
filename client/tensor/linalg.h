// Linear algebra on tensors: burn::linalg::vector_norm(x, 2, -1). Templates check the rank; client/ops/norms.h has the
// definitions. Factorisations are over the last two dims, for every matrix of the batch, and differentiable; 16-bit
// floats are computed in f32.
#pragma once

#include <limits>
#include <tuple>
#include <utility>

#include "client/ops/factor.h"
#include "client/ops/matrix_functions.h"
#include "client/ops/norms.h"
#include "client/tensor/tensor.h"

namespace burn::linalg {

template <int D>
Tensor<D> vector_norm(const Tensor<D>& x, double p, int dim, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_norm(x.value(), p, dim, at(where, "vector_norm"))};
}
template <int D>
Tensor<D> lp_norm(const Tensor<D>& x, double p, int dim, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_norm(x.value(), p, dim, at(where, "lp_norm"))};
}
template <int D>
Tensor<D> l0_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_norm(x.value(), 0, dim, at(where, "l0_norm"))};
}
template <int D>
Tensor<D> l1_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_norm(x.value(), 1, dim, at(where, "l1_norm"))};
}
template <int D>
Tensor<D> l2_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_norm(x.value(), 2, dim, at(where, "l2_norm"))};
}
template <int D>
Tensor<D> max_abs_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return Tensor<D>{
      client::vector_norm(x.value(), std::numeric_limits<double>::infinity(), dim, at(where, "max_abs_norm"))};
}
template <int D>
Tensor<D> min_abs_norm(const Tensor<D>& x, int dim, Loc where = Loc::current()) {
  return Tensor<D>{
      client::vector_norm(x.value(), -std::numeric_limits<double>::infinity(), dim, at(where, "min_abs_norm"))};
}
template <int D>
Tensor<D> vector_normalize(const Tensor<D>& x, double p, int dim, double eps = 1e-12, Loc where = Loc::current()) {
  return Tensor<D>{client::vector_normalize(x.value(), p, dim, eps, at(where, "vector_normalize"))};
}
template <int D>
Tensor<D> cosine_similarity(const Tensor<D>& a, const Tensor<D>& b, int dim, double eps = 1e-8,
                            Loc where = Loc::current()) {
  return Tensor<D>{client::cosine_similarity(a.value(), b.value(), dim, eps, at(where, "cosine_similarity"))};
}

// [..., n, m] -> [..., min(n, m)]
template <int D, Kind K>
  requires(D >= 2)
Tensor<D - 1, K> diag(const Tensor<D, K>& x, Loc where = Loc::current()) {
  return Tensor<D - 1, K>{client::diag(x.value(), at(where, "diag"))};
}
// [..., n, m] -> [..., 1]
template <int D, Kind K>
  requires(D >= 2 && Numeric<K>)
Tensor<D - 1, K> trace(const Tensor<D, K>& x, Loc where = Loc::current()) {
  return Tensor<D - 1, K>{client::trace(x.value(), at(where, "trace"))};
}
// [..., i], [..., j] -> [..., i, j]
template <int D, Kind K>
  requires Numeric<K>
Tensor<D + 1, K> outer(const Tensor<D, K>& a, const Tensor<D, K>& b, Loc where = Loc::current()) {
  return Tensor<D + 1, K>{client::outer(a.value(), b.value(), -1, at(where, "outer"))};
}
template <int D, Kind K>
  requires Numeric<K>
Tensor<D + 1, K> outer_dim(const Tensor<D, K>& a, const Tensor<D, K>& b, int dim, Loc where = Loc::current()) {
  return Tensor<D + 1, K>{client::outer(a.value(), b.value(), dim, at(where, "outer_dim"))};
}
// [..., n, k], [..., k] -> [..., n]
template <int D, Kind K>
  requires(D >= 2 && Numeric<K>)
Tensor<D - 1, K> matvec(const Tensor<D, K>& matrix, const Tensor<D - 1, K>& vector, Loc where = Loc::current()) {
  return Tensor<D - 1, K>{client::matvec(matrix.value(), vector.value(), at(where, "matvec"))};
}

// --- factorisations --------------------------------------------------------------------------------------------------

// P, L, U with x = P L U: [..., n, m] -> [..., n, n], [..., n, k], [..., k, m], k = min(n, m). Partial pivoting; L has
// ones on its diagonal. For a singular matrix, U's diagonal has a 0.
template <int D>
  requires(D >= 2)
std::tuple<Tensor<D>, Tensor<D>, Tensor<D>> lu(const Tensor<D>& x, Loc where = Loc::current()) {
  auto parts = client::lu(x.value(), at(where, "lu"));
  return {Tensor<D>{std::move(parts.p)}, Tensor<D>{std::move(parts.l)}, Tensor<D>{std::move(parts.u)}};
}
// The same for one matrix, packed: U on and above the diagonal, L below it; and p with x[p[i]] = (L U)[i].
inline std::pair<Tensor<2>, Tensor<1, Int>> lu_decomposition(const Tensor<2>& x, Loc where = Loc::current()) {
  auto parts = client::lu_decomposition(x.value(), at(where, "lu_decomposition"));
  return {Tensor<2>{std::move(parts.lu)}, Tensor<1, Int>{std::move(parts.permutation)}};
}
// Q, R with x = Q R: [..., n, m] -> [..., n, k], [..., k, m]; k = min(n, m) if reduced, else n. R's diagonal is not
// negative. The full Q of a tall matrix has no gradient.
template <int D>
  requires(D >= 2)
std::pair<Tensor<D>, Tensor<D>> qr(const Tensor<D>& x, bool reduced = true, Loc where = Loc::current()) {
  auto parts = client::qr(x.value(), reduced, at(where, "qr"));
  return {Tensor<D>{std::move(parts.q)}, Tensor<D>{std::move(parts.r)}};
}
// L, lower triangular, with x = L L^T; only the lower triangle of x is read. A matrix that is not positive definite is
// an error, reported at the next read.
template <int D>
  requires(D >= 2)
Tensor<D> cholesky(const Tensor<D>& x, Loc where = Loc::current()) {
  return Tensor<D>{client::cholesky(x.value(), at(where, "cholesky"))};
}
// U, S, V^T with x = U diag(S) V^T: [..., n, m] -> [..., n, k], [..., k], [..., k, m], k = min(n, m); S is descending.
// The gradient is valid for functions that do not depend on the vectors' signs. If singular values are equal, the
// gradients of U and V are undetermined; that of S is always valid.
template <int D>
  requires(D >= 2)
std::tuple<Tensor<D>, Tensor<D - 1>, Tensor<D>> svd(const Tensor<D>& x, Loc where = Loc::current()) {
  auto parts = client::svd(x.value(), at(where, "svd"));
  return {Tensor<D>{std::move(parts.u)}, Tensor<D - 1>{std::move(parts.s)}, Tensor<D>{std::move(parts.vt)}};
}
// The singular values alone, descending: [..., min(n, m)].
template <int D>
  requires(D >= 2)
Tensor<D - 1> svdvals(const Tensor<D>& x, Loc where = Loc::current()) {
  return Tensor<D - 1>{client::svd(x.value(), at(where, "svdvals")).s};
}
// For symmetric matrices, of which only the lower triangle is read: eigenvalues, ascending, [..., n], and eigenvectors
// as columns, [..., n, n].
template <int D>
  requires(D >= 2)
std::pair<Tensor<D - 1>, Tensor<D>> eigh(const Tensor<D>& x, Loc where = Loc::current()) {
  auto parts = client::eigh(x.value(), at(where, "eigh"));
  return {Tensor<D - 1>{std::move(parts.values)}, Tensor<D>{std::move(parts.vectors)}};
}

// --- systems of equations --------------------------------------------------------------------------------------------

// x with a x = b: [..., n, n], [..., n, k] -> [..., n, k]; batch dims broadcast. A singular matrix is an error,
// reported at the next read.
template <int D>
  requires(D >= 2)
Tensor<D> solve(const Tensor<D>& a, const Tensor<D>& b, Loc where = Loc::current()) {
  return Tensor<D>{client::solve(a.value(), b.value(), at(where, "solve"))};
}
// The same with the upper (or lower) triangle of a; `unit`: its diagonal is taken as ones, and not read. Division by 0
// is that of floats.
template <int D>
  requires(D >= 2)
Tensor<D> solve_triangular(const Tensor<D>& a, const Tensor<D>& b, bool upper, bool unit = false,
                           Loc where = Loc::current()) {
  return Tensor<D>{client::solve_triangular(a.value(), b.value(), !upper, unit, at(where, "solve_triangular"))};
}
// A singular matrix is an error, reported at the next read.
template <int D>
  requires(D >= 2)
Tensor<D> inverse(const Tensor<D>& x, Loc where = Loc::current()) {
  return Tensor<D>{client::inverse(x.value(), at(where, "inverse"))};
}
// [..., n, n] -> [...]; for a single matrix [1]. Its gradient is also valid for singular matrices.
template <int D>
  requires(D >= 3)
Tensor<D - 2> det(const Tensor<D>& x, Loc where = Loc::current()) {
  return Tensor<D - 2>{client::det(x.value(), at(where, "det"))};
}
inline Tensor<1> det(const Tensor<2>& x, Loc where = Loc::current()) {
  return Tensor<1>{client::reshape(client::det(x.value(), at(where, "det")), ir::Shape{1}, at(where, "det"))};
}
// The determinant's sign and the logarithm of its absolute value, also where det() would overflow or underflow: [...,
// n, n] -> [...] each; for a single matrix [1]. For a singular matrix 0 and -infinity, without a gradient.
template <int D>
  requires(D >= 3)
std::pair<Tensor<D - 2>, Tensor<D - 2>> slogdet(const Tensor<D>& x, Loc where = Loc::current()) {
  auto parts = client::slogdet(x.value(), at(where, "slogdet"));
  return {Tensor<D - 2>{std::move(parts.sign)}, Tensor<D - 2>{std::move(parts.logabsdet)}};
}
inline std::pair<Tensor<1>, Tensor<1>> slogdet(const Tensor<2>& x, Loc where = Loc::current()) {
  const auto site = at(where, "slogdet");
  const auto parts = client::slogdet(x.value(), site);
  return {Tensor<1>{client::reshape(parts.sign, ir::Shape{1}, site)},
          Tensor<1>{client::reshape(parts.logabsdet, ir::Shape{1}, site)}};
}

// Singular values up to max(atol, rtol * the largest) count as 0. Default of rtol: max(n, m) times the dtype's epsilon,
// or 0 if atol is given.
using client::RankTolerance;

// The Moore-Penrose pseudo-inverse, computed by singular values, for any rank: [..., n, m] -> [..., m, n]. Its gradient
// is valid where the rank is locally constant, also for equal singular values. A matrix with infinite or NaN elements
// gives NaN.
template <int D>
  requires(D >= 2)
Tensor<D> pinv(const Tensor<D>& x, const RankTolerance& tolerance = {}, Loc where = Loc::current()) {
  return Tensor<D>{client::pinv(x.value(), tolerance, at(where, "pinv"))};
}

// The method of lstsq(), with the names of torch.linalg.lstsq. gels: QR, for matrices of full rank; any other matrix is
// an error, reported at the next read. gelsd: pinv(), for any rank; slower.
using client::LstsqDriver;
struct LstsqOptions {
  LstsqDriver driver = LstsqDriver::gels;
  RankTolerance tolerance = {};  // of gelsd
};
template <int D>
struct Lstsq {
  Tensor<D> solution;       // [..., m, k]
  Tensor<D - 1> residuals;  // |a x - b|^2 of each column: [..., k]
};

// The x that minimises |a x - b|, for each column, and of several such x the one of least |x|: [..., n, m], [..., n, k]
// -> [..., m, k]; batch dims broadcast.
template <int D>
  requires(D >= 2)
Lstsq<D> lstsq(const Tensor<D>& a, const Tensor<D>& b, const LstsqOptions& options = {}, Loc where = Loc::current()) {
  auto parts = client::lstsq(a.value(), b.value(), options.driver, options.tolerance, at(where, "lstsq"));
  return {Tensor<D>{std::move(parts.solution)}, Tensor<D - 1>{std::move(parts.residuals)}};
}

// --- powers ----------------------------------------------------------------------------------------------------------

// x to the power n, by at most 2 log2(n) products. n = 0: the identity; n < 0: a power of the inverse; a singular
// matrix is then an error, reported at the next read.
template <int D>
  requires(D >= 2)
Tensor<D> matrix_power(const Tensor<D>& x, std::int64_t n, Loc where = Loc::current()) {
  return Tensor<D>{client::matrix_power(x.value(), n, at(where, "matrix_power"))};
}
// I + x + x^2 / 2 + x^3 / 6 + ... by scaling and squaring, [..., n, n]. NaN if the largest sum of absolute values of a
// column is above 2.3e6 (f64: 6.7e5), or NaN.
template <int D>
  requires(D >= 2)
Tensor<D> matrix_exp(const Tensor<D>& x, Loc where = Loc::current()) {
  return Tensor<D>{client::matrix_exp(x.value(), at(where, "matrix_exp"))};
}

}  // namespace burn::linalg
