#include "train/optim/grad_clipping.h"

#include <numeric>
#include <string>

#include "base/error.h"
#include "client/ops/formula.h"

namespace burn::optim {

using client::current_site;
using client::Value;
using Fn = ir::PointwiseFn;

namespace {

Value constant_like(const Value& like, double value) {
  return client::constant(client::place_of(like), value, like.dtype(), current_site());
}

Value clip_by_value(const Value& gradient, double limit) {
  const auto above = client::pointwise(Fn::max, gradient, constant_like(gradient, -limit), current_site());
  return client::pointwise(Fn::min, above, constant_like(gradient, limit), current_site());
}

// g * min(1, limit / |g|). Burn 0.22 adds the dtype's smallest normal number to |g|, which changes no quotient that is
// below 1.
Value clip_by_norm(const Value& gradient, double limit) {
  ir::Dims axes = ir::Dims::filled(gradient.rank(), 0);
  std::iota(axes.begin(), axes.end(), 0);
  return client::in_compute_dtype(gradient, current_site(), [&](const Value& g) {
    const Value norm = sqrt(client::reduce(ir::ReduceFn::sum, g * g, axes, current_site()));
    return g * min(limit / norm, 1.0);
  });
}

}  // namespace

void check(const GradientClippingConfig& config) {
  if (config.value.has_value() == config.norm.has_value()) {
    throw Error(StatusCode::invalid_argument, "gradient clipping: give either a value or a norm");
  }
  const double limit = config.value ? *config.value : *config.norm;
  if (!(limit > 0)) {
    throw Error(StatusCode::invalid_argument,
                "gradient clipping: the limit is " + std::to_string(limit) + ", must be positive");
  }
}

Value clip(const GradientClippingConfig& config, const Value& gradient) {
  if (config.value) return clip_by_value(gradient, *config.value);
  if (config.norm) return clip_by_norm(gradient, *config.norm);
  return gradient;
}

client::SummedRows clip(const GradientClippingConfig& config, client::SummedRows gradient) {
  if (config.value) {
    gradient.rows = clip_by_value(gradient.rows, *config.value);
    return gradient;
  }
  if (!config.norm) return gradient;
  const Value squares = client::sum_of_squares(gradient, current_site());
  const Value factor = client::reshape(min(*config.norm / sqrt(squares), 1.0), ir::Shape{}, current_site());
  gradient.rows = client::pointwise(Fn::mul, gradient.rows, factor, current_site());
  return gradient;
}

}  // namespace burn::optim
