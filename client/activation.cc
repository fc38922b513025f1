// Composites: functions over other ops, with their gradient for free.
#include <cmath>

#include "client/ops.h"

namespace burn::client {

using Fn = ir::PointwiseFn;

namespace {
Value times(const Value& x, double factor, const Site& site) {
  return pointwise(Fn::mul, x, constant(place_of(x), factor, x.dtype(), site), site);
}
}  // namespace

// The largest element is subtracted first, so no exponential overflows; as a constant it adds nothing to the gradient.
Value softmax(const Value& x, std::int64_t axis, const Site& site) {
  const ir::Dims axes{normalize_axis(axis, x.rank(), "softmax", site)};
  const auto largest = reduce(ir::ReduceFn::max, x.detach(), axes, site);
  const auto exps = pointwise(Fn::exp, pointwise(Fn::sub, x, largest, site), site);
  return pointwise(Fn::div, exps, reduce(ir::ReduceFn::sum, exps, axes, site), site);
}

Value log_softmax(const Value& x, std::int64_t axis, const Site& site) {
  const ir::Dims axes{normalize_axis(axis, x.rank(), "log_softmax", site)};
  const auto shifted = pointwise(Fn::sub, x, reduce(ir::ReduceFn::max, x.detach(), axes, site), site);
  const auto sum = reduce(ir::ReduceFn::sum, pointwise(Fn::exp, shifted, site), axes, site);
  return pointwise(Fn::sub, shifted, pointwise(Fn::log, sum, site), site);
}

Value gelu(const Value& x, const Site& site) {
  const auto one_plus_erf = pointwise(Fn::add, pointwise(Fn::erf, times(x, M_SQRT1_2, site), site), constant(place_of(x), 1, x.dtype(), site), site);
  return times(pointwise(Fn::mul, x, one_plus_erf, site), 0.5, site);
}

Value silu(const Value& x, const Site& site) { return pointwise(Fn::mul, x, pointwise(Fn::sigmoid, x, site), site); }

// log(1 + e^(beta x)) / beta as max(x, 0) + log1p(e^-|beta x|) / beta.
Value softplus(const Value& x, double beta, const Site& site) {
  const auto tail = pointwise(Fn::log1p, pointwise(Fn::exp, times(pointwise(Fn::abs, x, site), -beta, site), site), site);
  return pointwise(Fn::add, pointwise(Fn::relu, x, site), times(tail, 1 / beta, site), site);
}

Value leaky_relu(const Value& x, double slope, const Site& site) {
  const auto zero = constant(place_of(x), 0, x.dtype(), site);
  return select(pointwise(Fn::greater_equal, x, zero, site), x, times(x, slope, site), site);
}

}  // namespace burn::client
