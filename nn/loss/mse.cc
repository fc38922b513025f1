#include "nn/loss/mse.h"

#include "nn/loss/pair.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

namespace {

// c (|e| - c / 2) with c = min(|e|, delta): no branch computes a square that overflows.
Value huber(const Value& e, double delta) {
  const Value size = abs(e);
  const Value inner = min(size, delta);
  return inner * (size - inner * 0.5);
}

}  // namespace

HuberLoss HuberLossConfig::init() const {
  if (!(delta > 0)) detail::reject("HuberLossConfig", "delta is " + std::to_string(delta) + ", must be positive");
  return {.delta = delta};
}
SmoothL1Loss SmoothL1LossConfig::init() const {
  if (!(beta >= 0)) detail::reject("SmoothL1LossConfig", "beta is " + std::to_string(beta) + ", must not be negative");
  return {.beta = beta};
}
LpLoss LpLossConfig::init() const {
  if (!(p > 0)) detail::reject("LpLossConfig", "p is " + std::to_string(p) + ", must be positive");
  return {.p = p};
}

Value MseLoss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                     const Site& site) const {
  return detail::pair_loss("mse_loss", predictions, targets, reduction, site, [](const Value& x, const Value& t) {
    const Value e = x - t;
    return e * e;
  });
}

Value HuberLoss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                       const Site& site) const {
  return detail::pair_loss("huber_loss", predictions, targets, reduction, site,
                           [&](const Value& x, const Value& t) { return huber(x - t, delta); });
}

Value SmoothL1Loss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                          const Site& site) const {
  return detail::pair_loss(
      "smooth_l1_loss", predictions, targets, reduction, site,
      [&](const Value& x, const Value& t) { return beta == 0 ? abs(x - t) : huber(x - t, beta) * (1 / beta); });
}

Value LpLoss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                    const Site& site) const {
  return detail::pair_loss("lp_loss", predictions, targets, reduction, site, [&](const Value& x, const Value& t) {
    const Value e = x - t;
    if (p == 1) return abs(e);
    if (p == 2) return e * e;
    const auto power = [&](const Value& base) { return pow(base, p); };
    if (p > 2) return power(abs(e));
    const Value is_zero = e == 0.0;  // where the first or second derivative is infinite
    return select(is_zero, 0.0, power(select(is_zero, 1.0, abs(e))));
  });
}

}  // namespace burn::nn
