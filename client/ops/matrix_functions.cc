#include "client/ops/matrix_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "client/fail.h"
#include "client/ops/arrange.h"
#include "client/ops/factor.h"
#include "client/ops/formula.h"
#include "client/ops/matrices.h"
#include "client/ops/norms.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;
using Red = ir::ReduceFn;

Value product(const Value& a, const Value& b) { return matmul(a, b, current_site()); }
Value transposed(const Value& x) { return swap_dims(x, -2, -1, current_site()); }
Value reduced(Red fn, const Value& x, int dim) { return reduce(fn, x, ir::Dims{x.rank() + dim}, current_site()); }
Value without_dim(const Value& x, int dim) { return squeeze(x, ir::Dims{x.rank() + dim}, current_site()); }
Value identity(const Value& like) { return identity_like(like, current_site()); }

double epsilon_of(ir::DType dtype) {
  return dtype == ir::DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

Value transposed_zeros(const Value& x, const Site& site) {
  ir::Shape shape = x.shape();
  std::swap(shape[x.rank() - 2], shape[x.rank() - 1]);
  return filled(place_of(x), shape, 0, x.dtype(), site);
}

// [..., n], a permutation of 0 to n - 1 -> [...]: 1 if it is even, else -1.
Value parity(const Value& permutation, ir::DType dtype, const Site& site) {
  const Value row = unsqueeze(permutation, ir::Dims{permutation.rank() - 1}, site),
              column = unsqueeze(permutation, ir::Dims{permutation.rank()}, site);
  // For each element, the later ones that are less.
  const Value inverted = tril(cast(pointwise(Fn::greater, row, column, site), ir::DType::i64, site), -1, site);
  const int rank = inverted.rank();
  const Value count =
      squeeze(reduce(Red::sum, inverted, ir::Dims{rank - 2, rank - 1}, site), ir::Dims{rank - 2, rank - 1}, site);
  const Value odd = cast(pointwise(Fn::bitwise_and, count, 1, site), dtype, site);
  return 1.0 - 2.0 * odd;
}

// The first-order change of pinv(x) when x changes by `change`, for x of constant rank (G. H. Golub, V. Pereyra, "The
// differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate", 1973): -P C P + P
// P^T C^T (I - X P) + (I - P X) C^T P^T P.
Value pinv_change(const Value& p, const Value& x, const Value& change) {
  const Value pt = transposed(p), ct = transposed(change);
  const Value to_left = ct - product(ct, product(x, p)), to_right = ct - product(product(p, x), ct);
  return product(p, product(pt, to_left)) + product(product(to_right, pt), p) - product(p, product(change, p));
}

// If singular values are equal, the gradient of the singular vectors is undetermined, but that of the pseudo-inverse is
// not: its value is computed from the vectors, its derivatives from a Taylor polynomial around it that is correct up to
// the second derivative.
Value with_gradient(const Value& p, const Value& x) {
  const Value change = x - x.detach();
  const Value first = p + pinv_change(p, x.detach(), change);
  return p + 0.5 * (pinv_change(p, x.detach(), change) + pinv_change(first, x, change));
}

Value pinv_wide(const Value& wide, const RankTolerance& tolerance, const Site& site) {
  if (wide.type().num_elements() == 0) return transposed_zeros(wide, site);
  const double rtol = tolerance.rtol.value_or(
      tolerance.atol > 0 ? 0.0 : static_cast<double>(std::max(wide.dim(-2), wide.dim(-1))) * epsilon_of(wide.dtype()));
  const auto parts = svd(wide.detach(), site);
  const Value s = parts.s;
  const Value least = max(reduced(Red::max, s, -1) * rtol, tolerance.atol);
  const Value inverse = select(s > least, 1.0 / s, 0.0);
  const Value columns = unsqueeze(inverse, ir::Dims{inverse.rank() - 1}, site);
  const Value p = product(transposed(parts.vt) * columns, transposed(parts.u));
  return wide.is_tracked() ? with_gradient(p, wide) : p;
}

// R of Q R, or zeros if a pivot is 0 up to rounding, so that the solver reports a singular matrix.
Value full_rank_or_zero(const Value& r, std::int64_t longest) {
  const Value pivots = abs(diag(r, current_site())).detach();
  const Value least = reduced(Red::max, pivots, -1) * (static_cast<double>(longest) * epsilon_of(r.dtype()));
  const Value is_singular = reduced(Red::min, pivots, -1) <= least;
  return select(unsqueeze(is_singular, ir::Dims{is_singular.rank()}, current_site()), 0.0, triu(r, 0, current_site()));
}

// Least squares by Q R = a, or by Q R = a^T if there are more unknowns than equations.
Value least_squares_by_qr(const Value& a, const Value& b, const Site& site) {
  const bool is_tall = a.dim(-2) >= a.dim(-1);
  const auto parts = qr(is_tall ? a : transposed(a), true, site);
  const Value q = parts.q, r = full_rank_or_zero(parts.r, std::max(a.dim(-2), a.dim(-1)));
  if (is_tall) return apply(ir::Solve{}, r, product(transposed(q), b), site);
  return product(q, apply(ir::Solve{}, transposed(r), b, site));
}

// x^n by squaring, n > 0.
Value power(const Value& x, std::uint64_t n) {
  Value square = x;
  for (; (n & 1) == 0; n >>= 1) square = product(square, square);
  Value result = square;
  while ((n >>= 1) != 0) {
    square = product(square, square);
    if ((n & 1) != 0) result = product(result, square);
  }
  return result;
}

// The first 17 terms of the series, with six products (M. S. Paterson, L. J. Stockmeyer, 1973).
Value taylor_16(const Value& x) {
  std::array<double, 17> over_factorial{1};
  for (std::size_t i = 1; i < over_factorial.size(); ++i)
    over_factorial[i] = over_factorial[i - 1] / static_cast<double>(i);
  const Value one = identity(x), x2 = product(x, x), x3 = product(x2, x), x4 = product(x2, x2);
  const auto four_terms = [&](std::size_t i) {
    return one * over_factorial[i] + x * over_factorial[i + 1] + x2 * over_factorial[i + 2] +
           x3 * over_factorial[i + 3];
  };
  Value sum = product(four_terms(12) + x4 * over_factorial[16], x4) + four_terms(8);
  sum = product(sum, x4) + four_terms(4);
  return product(sum, x4) + four_terms(0);
}

}  // namespace

SlogdetParts slogdet(const Value& x, const Site& site) {
  const Value wide = square_matrices(x, "slogdet", site);
  const SiteScope scope{site};
  const auto parts = lu_decomposition(wide, site);
  const Value pivots = diag(parts.lu, site);
  const Value signs = pointwise(Fn::sign, pivots.detach(), site);
  const Value sign = without_dim(reduced(Red::prod, signs, -1), -1) * parity(parts.permutation, wide.dtype(), site);
  const Value logarithm = without_dim(reduced(Red::sum, log(abs(pivots)), -1), -1);
  return {cast(sign, x.dtype(), site), cast(logarithm, x.dtype(), site)};
}

Value pinv(const Value& x, const RankTolerance& tolerance, const Site& site) {
  const Value wide = matrices(x, "pinv", site);
  const SiteScope scope{site};
  return cast(pinv_wide(wide, tolerance, site), x.dtype(), site);
}

LstsqParts lstsq(const Value& a, const Value& b, LstsqDriver driver, const RankTolerance& tolerance, const Site& site) {
  Value left = matrices(a, "lstsq", site), right = matrices(b, "lstsq", site);
  if (a.rank() != b.rank() || a.dim(-2) != b.dim(-2) || a.dtype() != b.dtype()) {
    fail("lstsq: takes matrices of as many rows, got " + ir::to_string(a.type()) + " and " + ir::to_string(b.type()),
         site);
  }
  broadcast_batch(left, right, site);
  const SiteScope scope{site};
  Value solution;
  if (left.type().num_elements() == 0)
    solution = matmul(transposed_zeros(left, site), right, site);
  else if (driver == LstsqDriver::gelsd)
    solution = matmul(pinv_wide(left, tolerance, site), right, site);
  else
    solution = least_squares_by_qr(left, right, site);
  const Value rest = product(left, solution) - right;
  return {cast(solution, b.dtype(), site), cast(without_dim(reduced(Red::sum, rest * rest, -2), -2), b.dtype(), site)};
}

Value matrix_power(const Value& x, std::int64_t n, const Site& site) {
  const Value wide = square_matrices(x, "matrix_power", site);
  const SiteScope scope{site};
  if (n == 0) return cast(identity_like(wide, site), x.dtype(), site);
  const Value base = n < 0 ? inverse(wide, site) : wide;
  const auto count = n < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  return cast(power(base, count), x.dtype(), site);
}

// Halves x until the series is exact to the last bit, and squares the sum as many times. The number of times depends on
// the matrix, and is not read from the device: the program has kMaxSquarings squarings, and those that a matrix does
// not need leave it unchanged.
Value matrix_exp(const Value& x, const Site& site) {
  const Value wide = square_matrices(x, "matrix_exp", site);
  const SiteScope scope{site};
  if (x.type().num_elements() == 0) return x;
  constexpr int kMaxSquarings = 20;
  // Up to this norm a series of degree 16 has a backward error below half an epsilon (A. H. Al-Mohy, N. J. Higham,
  // "Computing the action of the matrix exponential", 2011, table 3.1, for degree 15).
  const double largest = wide.dtype() == ir::DType::f64 ? 0.64 : 2.2;
  const Value norm = reduced(Red::max, reduced(Red::sum, abs(wide.detach()), -2), -1);
  Value scale = norm * 0.0 + 1.0;
  for (int i = 0; i < kMaxSquarings; ++i) scale = select(norm * scale > largest, scale * 0.5, scale);
  const Value is_in_range = norm * scale <= largest;
  Value sum = taylor_16(wide * scale);
  for (int i = 0; i < kMaxSquarings; ++i) {
    const Value is_scaled = scale < 1.0;
    sum = select(is_scaled, product(sum, sum), sum);
    scale = select(is_scaled, scale * 2.0, scale);
  }
  return cast(select(is_in_range, sum, std::nan("")), x.dtype(), site);
}

}  // namespace burn::client
