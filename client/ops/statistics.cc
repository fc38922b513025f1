#include "client/ops/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "client/fail.h"
#include "client/ops/arrange.h"
#include "client/ops/formula.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;
using Red = ir::ReduceFn;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value reduced(Red fn, const Value& x, int axis) { return reduce(fn, x, ir::Dims{axis}, current_site()); }

// log(s) for sums that may have no terms: where s is 0, the result is -infinity with gradient 0.
Value log_of_sum(const Value& s) {
  const Value is_zero = s == 0.0;
  return select(is_zero, -kInfinity, log(select(is_zero, 1.0, s)));
}

// The number that is subtracted from exponents: without a gradient, and 0 where `largest` is infinite or NaN.
Value reference(const Value& largest) { return select(abs(largest) < kInfinity, largest, 0.0).detach(); }

void check_weights(const Value& weights, std::int64_t samples, const char* op, const Site& site) {
  fail_if_empty(weights, op, site);
  if (samples < 0 || weights.dim(-1) == 0) {
    fail(std::string{op} + ": " + std::to_string(samples) + " samples from " + ir::to_string(weights.type()), site);
  }
}

// Uniform random numbers in [0, 1) of x's dtype. Requires: a compute dtype.
Value uniform_like(const Value& x, const ir::Shape& shape, const Site& site) {
  return random(place_of(x), ir::RandomFn::uniform, shape, x.dtype(), site);
}

}  // namespace

// The gradient of a reduction is shared by equal elements, so a tracked x is recorded as a gather of the first one.
Value extreme(ir::ReduceFn fn, const Value& x, std::int64_t dim, const Site& site) {
  if (!x.is_tracked()) return reduce(fn, x, ir::Dims{dim}, site);
  return extreme_with_indices(fn == Red::max ? ir::ArgFn::max : ir::ArgFn::min, x, dim, site).values;
}

Indexed extreme_with_indices(ir::ArgFn fn, const Value& x, std::int64_t dim, const Site& site) {
  fail_if_empty(x, fn == ir::ArgFn::max ? "max_dim_with_indices" : "min_dim_with_indices", site);
  const Value index = arg_reduce(fn, x.detach(), dim, site);
  return {gather(x, dim, index, site), index};
}

Value max_abs(const Value& x, const ir::Dims& dims, const Site& site) {
  return reduce(Red::max, pointwise(Fn::abs, x, site), dims, site);
}
Value max_abs_all(const Value& x, const Site& site) { return reduce_all(Red::max, pointwise(Fn::abs, x, site), site); }

Indexed median(const Value& x, std::int64_t dim, const Site& site) {
  const int axis = normalize_axis(dim, x, "median", site);
  const auto size = x.dim(axis);
  if (size == 0) fail("median: dim " + std::to_string(axis) + " of " + ir::to_string(x.type()) + " is empty", site);
  const auto middle = (size - 1) / 2;
  const Value plain = x.detach();
  Value index = narrow(top_k(plain, axis, middle + 1, false, site).indices, axis, middle, 1, site);
  if (ir::is_floating(x.dtype())) {
    const Value has_nan = reduce(Red::max, pointwise(Fn::is_nan, plain, site), ir::Dims{axis}, site);
    index = select(has_nan, arg_reduce(ir::ArgFn::max, plain, axis, site), index, site);
  }
  return {gather(x, axis, index, site), index};
}

Value cov(const Value& x, std::int64_t dim, std::int64_t correction, const Site& site) {
  const int axis = normalize_axis(dim, x, "cov", site);
  if (x.rank() < 2) fail("cov: " + ir::to_string(x.type()) + " is no matrix", site);
  const double count = static_cast<double>(std::max<std::int64_t>(0, x.dim(axis) - correction));  // 0 gives NaN
  return in_wide_dtype(x, site, [&](const Value& wide) {
    const Value centred = wide - mean(wide, ir::Dims{axis}, site);
    const Value observations = swap_dims(centred, axis, 0, site);  // [n, ..., variables]
    return matmul(swap_dims(observations, -2, -1, site), observations, site) / count;
  });
}

Value logsumexp(const Value& value, std::int64_t dim, const Site& site) {
  const int axis = normalize_axis(dim, value, "logsumexp", site);
  if (value.dim(axis) == 0) {
    ir::Shape shape = value.shape();
    shape[axis] = 1;
    return filled(place_of(value), shape, -kInfinity, value.dtype(), site);
  }
  return in_wide_dtype(value, site, [&](const Value& x) {
    const Value base = reference(reduced(Red::max, x.detach(), axis));
    return log_of_sum(reduced(Red::sum, exp(x - base), axis)) + base;
  });
}

Value logcumsumexp(const Value& value, std::int64_t dim, const Site& site) {
  const int axis = normalize_axis(dim, value, "logcumsumexp", site);
  const auto size = value.dim(axis);
  return in_wide_dtype(value, site, [&](const Value& x) {
    Value sum = x;  // log(sum of exp) over x[i - reach + 1 .. i]
    for (std::int64_t reach = 1; reach < size; reach *= 2) {
      ir::Shape missing = x.shape();
      missing[axis] = reach;
      const auto shifted = std::array{filled(place_of(x), missing, -kInfinity, x.dtype(), site),
                                      narrow(sum, axis, 0, size - reach, site)};
      const Value other = concat(shifted, axis, site);
      const Value base = reference(max(sum.detach(), other.detach()));
      sum = log_of_sum(exp(sum - base) + exp(other - base)) + base;
    }
    return sum;
  });
}

Value is_finite(const Value& x, const Site& site) {
  const Value strange = pointwise(Fn::bool_or, pointwise(Fn::is_nan, x, site), pointwise(Fn::is_inf, x, site), site);
  return pointwise(Fn::bool_not, strange, site);
}

Value is_close(const Value& x, const Value& y, double rtol, double atol, const Site& site) {
  fail_if_empty(x, "is_close", site);
  fail_if_empty(y, "is_close", site);
  const SiteScope scope{site};
  const Value a = to_compute_dtype(x, site), b = to_compute_dtype(y, site);
  const Value near = pointwise(Fn::lower_equal, abs(a - b), abs(b) * rtol + atol, site);
  return pointwise(Fn::bool_or, pointwise(Fn::bool_and, near, is_finite(b, site), site), a == b, site);
}

Value cross(const Value& x, const Value& y, std::int64_t dim, const Site& site) {
  const int axis = normalize_axis(dim, x, "cross", site);
  fail_if_empty(y, "cross", site);
  if (y.rank() != x.rank() || x.dim(axis) != 3 || y.dim(axis) != 3) {
    fail("cross: along dim " + std::to_string(axis) + " both must have 3 elements: lhs " + ir::to_string(x.type()) +
             ", rhs " + ir::to_string(y.type()),
         site);
  }
  const auto next = [&](const Value& v, std::int64_t by) {
    const std::int64_t along = axis;
    return roll(v, std::span{&by, 1}, std::span{&along, 1}, site);
  };
  return pointwise(Fn::sub, pointwise(Fn::mul, next(x, 1), next(y, 2), site),
                   pointwise(Fn::mul, next(x, 2), next(y, 1), site), site);
}

Value dot(const Value& x, const Value& y, const Site& site) {
  fail_if_empty(x, "dot", site);
  fail_if_empty(y, "dot", site);
  if (x.rank() != 1 || x.shape() != y.shape()) {
    fail("dot: of two vectors of one size: lhs " + ir::to_string(x.type()) + ", rhs " + ir::to_string(y.type()), site);
  }
  return in_wide_dtype(x, site, [&](const Value& a) {
    const Value products = a * to_compute_dtype(y, site);
    return reduce_all_in(products.dtype(), Red::sum, products, site);
  });
}

namespace {

// Weights for sampling: a negative or NaN weight becomes 0, as an error could not be reported from here.
Value drawable(const Value& weights, const Site& site) {
  const Value wide = to_compute_dtype(weights.detach(), site);
  const Value none = constant(place_of(wide), 0, wide.dtype(), site);
  return select(pointwise(Fn::greater, wide, none, site), wide, none, site);
}

}  // namespace

Value categorical(const Value& weights, std::int64_t samples, const Site& site) {
  check_weights(weights, samples, "categorical", site);
  // The first class at which the running sum passes a number drawn below the total. If rounding yields the total
  // itself, it is the last class of positive weight.
  const Value wide = drawable(weights, site);
  const int last = wide.rank() - 1;
  const Value sums = scan(Red::sum, wide, last, site);
  const Value total = narrow(sums, last, wide.dim(last) - 1, 1, site);
  const auto column = [&](const Value& v) { return unsqueeze(v, ir::Dims{last}, site); };  // [..., 1, n]
  ir::Shape shape = wide.shape();
  shape[last] = samples;
  const Value drawn = pointwise(Fn::mul, uniform_like(wide, shape, site), total, site);
  const Value passed = pointwise(
      Fn::bool_and, pointwise(Fn::lower_equal, column(sums), unsqueeze(drawn, ir::Dims{last + 1}, site), site),
      column(pointwise(Fn::lower, sums, total, site)), site);
  const Value counted = reduce(Red::sum, cast(passed, ir::DType::i64, site), ir::Dims{last + 1}, site);
  return squeeze(counted, ir::Dims{last + 1}, site);
}

Value sample_without_replacement(const Value& weights, std::int64_t samples, const Site& site) {
  check_weights(weights, samples, "multinomial", site);
  if (samples > weights.dim(-1)) {
    fail("multinomial: " + std::to_string(samples) + " samples without replacement from " +
             ir::to_string(weights.type()),
         site);
  }
  // The order in which exponential clocks of these rates ring (Efraimidis and Spirakis, 2006).
  const SiteScope scope{site};
  const Value rate = drawable(weights, site);
  const Value uniform = uniform_like(rate, rate.shape(), site);
  const Value clock = max(-log1p(-uniform), rate.dtype() == ir::DType::f64 ? 1e-300 : 1e-30);
  return top_k(rate / clock, -1, samples, true, site).indices;
}

}  // namespace burn::client
