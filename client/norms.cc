#include <cmath>
#include <limits>

#include "client/fail.h"
#include "client/formula.h"
#include "client/norms.h"

namespace burn::client {
namespace {

ir::Dims one_axis(const Value& x, std::int64_t axis, const char* op, const Site& site) {
  return ir::Dims{normalize_axis(axis, x.rank(), op, site)};
}

Term sum(const Term& x, const ir::Dims& axes) { return x.with(reduce(ir::ReduceFn::sum, x, axes, x.site())); }

void check_matrix(const Value& x, const char* op, const Site& site) {
  if (x.rank() < 2) fail(std::string{op} + ": takes matrices, got " + ir::to_string(x.type()), site);
}

}  // namespace

Value vector_norm(const Value& value, double p, std::int64_t axis, const Site& site) {
  if (value.dtype() != ir::compute_dtype(value.dtype())) {
    return in_compute_dtype(value, site, [&](const Value& wide) { return vector_norm(wide, p, axis, site); });
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ir::Dims axes = one_axis(value, axis, "vector_norm", site);
  const Term x{value, site};
  if (p == kInfinity) return reduce(ir::ReduceFn::max, abs(x), axes, site);
  if (p == -kInfinity) return reduce(ir::ReduceFn::min, abs(x), axes, site);
  if (p == 0) {
    const Value is_there = pointwise(ir::PointwiseFn::not_equal, value, 0, site);
    return reduce(ir::ReduceFn::sum, cast(is_there, value.dtype(), site), axes, site);
  }
  if (p == 1) return sum(abs(x), axes);
  if (p == 2) return sqrt(sum(x * x, axes));
  const Term powers = x.with(pointwise(ir::PointwiseFn::pow, abs(x), x.literal(p), site));
  const Term total = sum(powers, axes);
  return pointwise(ir::PointwiseFn::pow, total, total.literal(1 / p), site);
}

Value vector_normalize(const Value& x, double p, std::int64_t axis, double eps, const Site& site) {
  return in_compute_dtype(x, site, [&](const Term& wide) { return wide / max(wide.with(vector_norm(wide, p, axis, site)), eps); });
}

Value cosine_similarity(const Value& a, const Value& b, std::int64_t axis, double eps, const Site& site) {
  const auto length = [&](const Term& x) { return max(x.with(vector_norm(x, 2, axis, site)), eps); };
  return in_compute_dtype(a, site, [&](const Term& x) {
    const Term y{to_compute_dtype(b, site), site};
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
  const Value d = diag(x, site);
  return reduce(ir::ReduceFn::sum, d, ir::Dims{d.rank() - 1}, site);
}

Value outer(const Value& a, const Value& b, std::int64_t axis, const Site& site) {
  const auto at = normalize_axis(axis, a.rank(), "outer", site);
  return pointwise(ir::PointwiseFn::mul, unsqueeze(a, ir::Dims{at + 1}, site), unsqueeze(b, ir::Dims{at}, site), site);
}

Value matvec(const Value& matrix, const Value& vector, const Site& site) {
  check_matrix(matrix, "matvec", site);
  const Value column = unsqueeze(vector, ir::Dims{vector.rank()}, site);
  ir::Shape shape = column.shape();
  while (shape.rank() < matrix.rank()) shape.insert(0, 1);
  const Value y = matmul(matrix, reshape(column, shape, site), site);
  return squeeze(y, ir::Dims{y.rank() - 1}, site);
}

}  // namespace burn::client
