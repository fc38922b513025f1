// Composites of other ops, which therefore need no gradient rules. They are written so that the gradient is right
// everywhere, also where a branch that is not taken overflows, and where two pieces of a function meet.
#include "client/ops/activation.h"

#include <cmath>

#include "client/fail.h"
#include "client/ops/formula.h"

namespace burn::client {

namespace {

// The largest element along the axes, without a gradient: it is subtracted so that no exponential overflows, which does
// not change the gradient. Along an axis of size 0 the result is not used, so the sum will do.
Value largest_along(const Value& x, const ir::Dims& axes, const Site& site) {
  const bool is_empty = x.dim(static_cast<int>(axes[0])) == 0;
  return reduce(is_empty ? ir::ReduceFn::sum : ir::ReduceFn::max, x.detach(), axes, site);
}

}  // namespace

Value softmax(const Value& value, std::int64_t axis, const Site& site) {
  const ir::Dims axes{normalize_axis(axis, value, "softmax", site)};
  return in_wide_dtype(value, site, [&](const Value& x) {
    const auto exps = exp(x - largest_along(x, axes, site));
    return exps / reduce(ir::ReduceFn::sum, exps, axes, site);
  });
}

Value log_softmax(const Value& value, std::int64_t axis, const Site& site) {
  const ir::Dims axes{normalize_axis(axis, value, "log_softmax", site)};
  return in_wide_dtype(value, site, [&](const Value& x) {
    const auto shifted = x - largest_along(x, axes, site);
    return shifted - log(reduce(ir::ReduceFn::sum, exp(shifted), axes, site));
  });
}

Value neg_log_softmax_at(const Value& value, std::int64_t axis, const Value& index, const Site& site) {
  const ir::Dims axes{normalize_axis(axis, value, "log_softmax", site)};
  return in_wide_dtype(value, site, [&](const Value& x) {
    const auto shifted = x - largest_along(x, axes, site);
    const auto picked = gather(shifted, axis, index, site);
    return log(reduce(ir::ReduceFn::sum, exp(shifted), axes, site)) - picked;
  });
}

Value softmin(const Value& x, std::int64_t axis, const Site& site) {
  fail_if_empty(x, "softmin", site);
  const SiteScope scope{site};
  return softmax(-x, axis, site);
}

// Numerator and denominator are divided by e^shift, where shift is the largest exponent, that of the 1 (0) included.
Value quiet_softmax(const Value& value, std::int64_t axis, const Site& site) {
  const ir::Dims axes{normalize_axis(axis, value, "quiet_softmax", site)};
  return in_wide_dtype(value, site, [&](const Value& x) {
    const auto shift = max(largest_along(x, axes, site), 0.0);
    const auto exps = exp(x - shift);
    return exps / (exp(-shift) + reduce(ir::ReduceFn::sum, exps, axes, site));
  });
}

// log(1 + e^t) / beta with t = beta x, as max(t, 0) + log1p(e^-|t|). The two pieces share one condition, so that their
// slopes add up to sigmoid(t) also at 0; those of max() and abs() would not.
Value softplus(const Value& value, double beta, const Site& site) {
  fail_if_empty(value, "softplus", site);
  return in_compute_dtype(value, site, [&](const Value& x) {
    const Value t = x * beta;
    const Value is_positive = t >= 0.0;
    const Value log_term = log1p(exp(select(is_positive, -t, t)));
    return (select(is_positive, t, 0.0) + log_term) * (1 / beta);
  });
}

Value log_sigmoid(const Value& x, const Site& site) {
  fail_if_empty(x, "log_sigmoid", site);
  const SiteScope scope{site};
  return -softplus(-x, 1, site);
}

Value clamp(const Value& x, double low, double high, const Site& site) {
  fail_if_empty(x, "clamp", site);
  const SiteScope scope{site};
  return min(max(x, low), high);
}
Value relu6(const Value& x, const Site& site) { return clamp(x, 0, 6, site); }
Value hardtanh(const Value& x, double low, double high, const Site& site) { return clamp(x, low, high, site); }

Value hard_sigmoid(const Value& value, double alpha, double beta, const Site& site) {
  fail_if_empty(value, "hard_sigmoid", site);
  return in_compute_dtype(value, site, [&](const Value& x) { return clamp(x * alpha + beta, 0, 1, site); });
}

Value hard_swish(const Value& value, const Site& site) {
  fail_if_empty(value, "hard_swish", site);
  return in_compute_dtype(value, site, [&](const Value& x) { return x * hard_sigmoid(x, 1.0 / 6, 0.5, site); });
}

Value gelu(const Value& value, const Site& site) {
  fail_if_empty(value, "gelu", site);
  return in_compute_dtype(value, site, [](const Value& x) { return x * (erf(x * M_SQRT1_2) + 1.0) * 0.5; });
}

Value gelu_approximate(const Value& value, const Site& site) {
  fail_if_empty(value, "gelu_approximate", site);
  return in_compute_dtype(value, site, [](const Value& x) {
    const Value inner = (x + x * x * x * 0.044715) * (M_SQRT1_2 * M_2_SQRTPI);
    return x * (tanh(inner) + 1.0) * 0.5;
  });
}

Value silu(const Value& value, const Site& site) {
  fail_if_empty(value, "silu", site);
  return in_compute_dtype(value, site, [](const Value& x) { return x * sigmoid(x); });
}

Value mish(const Value& value, const Site& site) {
  fail_if_empty(value, "mish", site);
  return in_compute_dtype(value, site, [&](const Value& x) { return x * tanh(softplus(x, 1, site)); });
}

Value tanhshrink(const Value& value, const Site& site) {
  fail_if_empty(value, "tanhshrink", site);
  return in_compute_dtype(value, site, [](const Value& x) { return x - tanh(x); });
}

Value softsign(const Value& value, const Site& site) {
  fail_if_empty(value, "softsign", site);
  return in_compute_dtype(value, site, [](const Value& x) { return x / (abs(x) + 1.0); });
}

Value leaky_relu(const Value& value, double slope, const Site& site) {
  fail_if_empty(value, "leaky_relu", site);
  return in_compute_dtype(value, site, [&](const Value& x) { return select(x >= 0.0, x, x * slope); });
}

namespace {

// x above 0, scale * (e^(x rate) - 1) elsewhere, both times `outer`. The exponent is at most 0: an overflow in the
// branch that is not taken would make its gradient 0 * infinity.
Value exponential_unit(const Value& value, double scale, double rate, double outer, const Site& site) {
  return in_compute_dtype(value, site, [&](const Value& x) {
    const Value unit = select(x > 0.0, x, expm1(min(x, 0.0) * rate) * scale);
    return outer == 1 ? unit : unit * outer;
  });
}

}  // namespace

Value elu(const Value& x, double alpha, const Site& site) {
  fail_if_empty(x, "elu", site);
  return exponential_unit(x, alpha, 1, 1, site);
}
Value celu(const Value& x, double alpha, const Site& site) {
  fail_if_empty(x, "celu", site);
  return exponential_unit(x, alpha, 1 / alpha, 1, site);
}

Value selu(const Value& x, const Site& site) {
  fail_if_empty(x, "selu", site);
  constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  return exponential_unit(x, kAlpha, 1, kScale, site);
}

Value prelu(const Value& x, const Value& alpha, const Site& site) {
  fail_if_empty(x, "prelu", site);
  fail_if_empty(alpha, "prelu: alpha", site);
  const bool is_per_channel = alpha.rank() == 1 && x.rank() >= 2 && alpha.dim(0) == x.dim(1);
  if (!is_per_channel && alpha.type().num_elements() != 1) {
    fail("prelu: alpha " + ir::to_string(alpha.type()) + " has neither one slope nor one for each channel of " +
             ir::to_string(x.type()),
         site);
  }
  ir::Shape shape = ir::Shape::filled(x.rank(), 1);
  if (is_per_channel) shape[1] = alpha.dim(0);
  const SiteScope scope{site};
  const Value is_positive = x >= 0.0;
  const Value negative = select(is_positive, 0.0, x);  // the gradient of alpha would otherwise be 0 * infinity
  return select(is_positive, x, negative * reshape(alpha, shape, site));
}

Value threshold(const Value& x, double threshold, double replacement, const Site& site) {
  fail_if_empty(x, "threshold", site);
  const SiteScope scope{site};
  return select(x <= threshold, replacement, x);  // NaN stays
}

Value thresholded_relu(const Value& x, double alpha, const Site& site) { return threshold(x, alpha, 0, site); }

Value shrink(const Value& value, double lambda, double bias, const Site& site) {
  fail_if_empty(value, "shrink", site);
  return in_compute_dtype(value, site, [&](const Value& x) {
    // NaN stays. NOLINTNEXTLINE(misc-redundant-expression): x == x is false for NaN
    return select(x > lambda, x - bias, select(x < -lambda, x + bias, select(x == x, 0.0, x)));
  });
}

Value glu(const Value& x, std::int64_t axis, const Site& site) {
  const auto size = x.dim(normalize_axis(axis, x, "glu", site));
  if (size % 2 != 0) {
    fail("glu: dim " + std::to_string(axis) + " of " + ir::to_string(x.type()) + " has an odd size, " +
             std::to_string(size),
         site);
  }
  return in_compute_dtype(x, site, [&](const Value& wide) {
    const auto half = [&](std::int64_t start) { return narrow(wide, axis, start, size / 2, site); };
    return half(0) * sigmoid(half(size / 2));
  });
}

}  // namespace burn::client
