#include "client/ops/norms.h"

#include <cmath>
#include <limits>

#include "client/fail.h"
#include "client/ops/formula.h"

namespace burn::client {
namespace {

ir::Dims one_axis(const Value& x, std::int64_t axis, const char* op, const Site& site) {
  return ir::Dims{normalize_axis(axis, x, op, site)};
}

Value sum(const Value& x, const ir::Dims& axes) { return reduce(ir::ReduceFn::sum, x, axes, current_site()); }

// The p-th root of a sum of p-th powers. Where the sum is 0, the root's slope is infinite and that of the powers is 0;
// their product is taken as 0, by taking the root of 1 there instead.
Value root(const Value& total, double p) {
  const Value is_zero = total == 0.0;
  const Value positive = select(is_zero, 1.0, total);
  const Value y = p == 2 ? sqrt(positive) : pow(positive, 1 / p);
  return select(is_zero, p > 0 ? 0.0 : std::numeric_limits<double>::infinity(), y);
}

// |x|^p. For p < 2 the first or second derivative is infinite at 0; both are taken as 0 there.
Value powers(const Value& x, double p) {
  const auto power = [&](const Value& base) { return pow(base, p); };
  if (p > 2) return power(abs(x));
  const Value is_zero = x == 0.0;
  return select(is_zero, p > 0 ? 0.0 : std::numeric_limits<double>::infinity(), power(select(is_zero, 1.0, abs(x))));
}

void check_matrix(const Value& x, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  if (x.rank() < 2) fail(std::string{op} + ": takes matrices, got " + ir::to_string(x.type()), site);
}

}  // namespace

Value vector_norm(const Value& x, double p, std::int64_t axis, const Site& site) {
  fail_if_empty(x, "vector_norm", site);
  if (x.dtype() != ir::compute_dtype(x.dtype())) {
    return in_wide_dtype(x, site, [&](const Value& wide) { return vector_norm(wide, p, axis, site); });
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ir::Dims axes = one_axis(x, axis, "vector_norm", site);
  const SiteScope scope{site};
  if (p == kInfinity) return reduce(ir::ReduceFn::max, abs(x), axes, site);
  if (p == -kInfinity) return reduce(ir::ReduceFn::min, abs(x), axes, site);
  if (p == 0) {
    const Value is_there = pointwise(ir::PointwiseFn::not_equal, x, 0, site);
    return reduce(ir::ReduceFn::sum, cast(is_there, x.dtype(), site), axes, site);
  }
  if (p == 1) return sum(abs(x), axes);
  if (p == 2) return root(sum(x * x, axes), p);
  return root(sum(powers(x, p), axes), p);
}

Value vector_normalize(const Value& x, double p, std::int64_t axis, double eps, const Site& site) {
  fail_if_empty(x, "vector_normalize", site);
  return in_wide_dtype(x, site, [&](const Value& wide) { return wide / max(vector_norm(wide, p, axis, site), eps); });
}

Value cosine_similarity(const Value& a, const Value& b, std::int64_t axis, double eps, const Site& site) {
  fail_if_empty(a, "cosine_similarity", site);
  fail_if_empty(b, "cosine_similarity", site);
  const auto length = [&](const Value& x) { return max(vector_norm(x, 2, axis, site), eps); };
  return in_wide_dtype(a, site, [&](const Value& x) {
    const Value y = to_compute_dtype(b, site);
    return sum(x * y, one_axis(a, axis, "cosine_similarity", site)) / (length(x) * length(y));
  });
}

Value diag(const Value& x, const Site& site) {
  check_matrix(x, "diag", site);
  const auto rows = x.dim(-2), columns = x.dim(-1), size = std::min(rows, columns);
  // Row-major, the diagonal is every (columns + 1)th element.
  ir::Shape shape = x.shape();
  shape.erase(shape.rank() - 1);
  shape[shape.rank() - 1] = rows * columns;
  std::vector<Range> ranges(static_cast<std::size_t>(shape.rank()));
  ranges.back() = {0, size == 0 ? 0 : (size - 1) * (columns + 1) + 1, columns + 1};
  return slice(reshape(x, shape, site), ranges, site);
}

Value trace(const Value& x, const Site& site) {
  fail_if_empty(x, "trace", site);
  const Value d = diag(x, site);
  return reduce(ir::ReduceFn::sum, d, ir::Dims{d.rank() - 1}, site);
}

Value outer(const Value& a, const Value& b, std::int64_t axis, const Site& site) {
  fail_if_empty(a, "outer", site);
  fail_if_empty(b, "outer", site);
  const auto at = normalize_axis(axis, a, "outer", site);
  return pointwise(ir::PointwiseFn::mul, unsqueeze(a, ir::Dims{at + 1}, site), unsqueeze(b, ir::Dims{at}, site), site);
}

Value matvec(const Value& matrix, const Value& vector, const Site& site) {
  check_matrix(matrix, "matvec", site);
  fail_if_empty(vector, "matvec: the vector", site);
  const Value column = unsqueeze(vector, ir::Dims{vector.rank()}, site);
  ir::Shape shape = column.shape();
  while (shape.rank() < matrix.rank()) shape.insert(0, 1);
  const Value y = matmul(matrix, reshape(column, shape, site), site);
  return squeeze(y, ir::Dims{y.rank() - 1}, site);
}

}  // namespace burn::client
