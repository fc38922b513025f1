#include "client/ops/factor.h"

#include <algorithm>

#include "client/fail.h"
#include "client/ops/matrices.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

// [n] as a row or a column that broadcasts over matrices of `rank` dims.
Value line(const Value& numbers, int rank, int dim, const Site& site) {
  ir::Shape shape = ir::Shape::filled(rank, 1);
  shape[rank + dim] = numbers.dim(0);
  return reshape(numbers, shape, site);
}

// bool [1, ..., rows, columns]: compare(column - row, 0).
Value where_beside_diagonal(Fn compare, const Value& x, const Site& site) {
  const auto numbers = [&](int dim) {
    return line(arange(place_of(x), 0, x.dim(dim), 1, ir::DType::i64, site), x.rank(), dim, site);
  };
  return pointwise(compare, numbers(-1), numbers(-2), site);
}

Value zero_like(const Value& x, const Site& site) { return constant(place_of(x), 0, x.dtype(), site); }

Value solve_by(const ir::Op& op, const char* name, const Value& a, const Value& b, const Site& site) {
  Value left = square_matrices(a, name, site), right = matrices(b, name, site);
  broadcast_batch(left, right, site);
  return cast(apply(op, left, right, site), b.dtype(), site);
}

}  // namespace

Value matrices(const Value& x, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  if (!ir::is_floating(x.dtype()) || x.rank() < 2)
    fail(std::string{op} + ": takes matrices of floats, got " + ir::to_string(x.type()), site);
  return cast(x, ir::compute_dtype(x.dtype()), site);
}

Value square_matrices(const Value& x, const char* op, const Site& site) {
  Value wide = matrices(x, op, site);
  if (x.dim(-1) != x.dim(-2)) fail(std::string{op} + ": takes square matrices, got " + ir::to_string(x.type()), site);
  return wide;
}

Value identity_like(const Value& x, const Site& site) {
  return expand(cast(where_beside_diagonal(Fn::equal, x, site), x.dtype(), site), x.shape(), site);
}

void broadcast_batch(Value& a, Value& b, const Site& site) {
  if (a.rank() != b.rank() || a.rank() <= 2) return;
  ir::Shape left = a.shape(), right = b.shape();
  for (int i = 0; i < a.rank() - 2; ++i) {
    if (left[i] == 1)
      left[i] = right[i];
    else if (right[i] == 1)
      right[i] = left[i];
  }
  a = expand(a, left, site);
  b = expand(b, right, site);
}

Value cholesky(const Value& x, const Site& site) {
  fail_if_empty(x, "cholesky", site);
  return cast(apply(ir::Cholesky{}, square_matrices(x, "cholesky", site), site), x.dtype(), site);
}

PackedLu lu_decomposition(const Value& x, const Site& site) {
  auto results = apply_all(ir::Lu{}, matrices(x, "lu_decomposition", site), site);
  return {cast(results[0], x.dtype(), site), std::move(results[1])};
}

LuParts lu(const Value& x, const Site& site) {
  const auto results = apply_all(ir::Lu{}, matrices(x, "lu", site), site);
  const Value &packed = results[0], &permutation = results[1];
  const auto n = x.dim(-2), k = std::min(n, x.dim(-1));
  const int rank = x.rank();
  // Row permutation[i] of P has its 1 in column i.
  const Value rows = line(arange(place_of(x), 0, n, 1, ir::DType::i64, site), rank, -2, site);
  const Value from = unsqueeze(permutation, ir::Dims{rank - 2}, site);
  const Value p = cast(pointwise(Fn::equal, from, rows, site), x.dtype(), site);
  const Value left = narrow(packed, -1, 0, k, site), right = narrow(packed, -2, 0, k, site);
  const Value zero = zero_like(packed, site);
  const Value l = pointwise(Fn::add, select(where_beside_diagonal(Fn::lower, left, site), left, zero, site),
                            identity_like(left, site), site);
  const Value u = select(where_beside_diagonal(Fn::greater_equal, right, site), right, zero, site);
  return {p, cast(l, x.dtype(), site), cast(u, x.dtype(), site)};
}

QrParts qr(const Value& x, bool reduced, const Site& site) {
  const auto results = apply_all(ir::Qr{reduced}, matrices(x, "qr", site), site);
  return {cast(results[0], x.dtype(), site), cast(results[1], x.dtype(), site)};
}

SvdParts svd(const Value& x, const Site& site) {
  const auto results = apply_all(ir::Svd{}, matrices(x, "svd", site), site);
  return {cast(results[0], x.dtype(), site), cast(results[1], x.dtype(), site), cast(results[2], x.dtype(), site)};
}

EighParts eigh(const Value& x, const Site& site) {
  const auto results = apply_all(ir::Eigh{}, square_matrices(x, "eigh", site), site);
  return {cast(results[0], x.dtype(), site), cast(results[1], x.dtype(), site)};
}

Value solve(const Value& a, const Value& b, const Site& site) { return solve_by(ir::Solve{}, "solve", a, b, site); }

Value solve_triangular(const Value& a, const Value& b, bool lower, bool unit, const Site& site) {
  return solve_by(ir::SolveTriangular{lower, unit}, "solve_triangular", a, b, site);
}

Value inverse(const Value& x, const Site& site) {
  const Value wide = square_matrices(x, "inverse", site);
  return cast(apply(ir::Solve{}, wide, identity_like(wide, site), site), x.dtype(), site);
}

Value det(const Value& x, const Site& site) {
  fail_if_empty(x, "det", site);
  return cast(apply(ir::Det{}, square_matrices(x, "det", site), site), x.dtype(), site);
}

}  // namespace burn::client
