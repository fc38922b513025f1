#include "nn/loss/likelihood.h"

#include <numbers>

#include "nn/loss/pair.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;  // log(2 pi) / 2

void check_eps(const char* config, double eps) {
  if (!(eps > 0)) detail::reject(config, "eps is " + std::to_string(eps) + ", must be positive");
}

// t log t, 0 at 0.
Value times_own_log(const Value& t) {
  const Value is_zero = t == 0.0;
  return select(is_zero, 0.0, t * log(select(is_zero, 1.0, t)));
}

// log t! of a t above 1, 0 of others.
Value stirling(const Value& t) {
  const Value counts = t > 1.0;
  const Value safe = select(counts, t, 2.0);
  return select(counts, safe * log(safe) - safe + log(safe) * 0.5 + kHalfLogTwoPi, 0.0);
}

}  // namespace

PoissonNllLoss PoissonNllLossConfig::init() const {
  check_eps("PoissonNllLossConfig", eps);
  return {.log_input = log_input, .full = full, .eps = eps};
}
GaussianNLLLoss GaussianNLLLossConfig::init() const {
  check_eps("GaussianNLLLossConfig", eps);
  return {.eps = eps, .full = full};
}

Value KLDivLoss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                       const Site& site) const {
  const auto usual = reduction == Reduction::auto_ ? std::optional{Reduction::batch_mean} : reduction;
  return detail::pair_loss("kl_div_loss", predictions, targets, usual, site, [&](const Value& x, const Value& t) {
    return log_target ? exp(t) * (t - x) : times_own_log(t) - t * x;
  });
}

Value PoissonNllLoss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                            const Site& site) const {
  return detail::pair_loss("poisson_nll_loss", predictions, targets, reduction, site,
                           [&](const Value& x, const Value& t) {
                             const Value loss = log_input ? exp(x) - t * x : x - t * log(x + eps);
                             return full ? loss + stirling(t) : loss;
                           });
}

Value GaussianNLLLoss::apply(const Value& input, const Value& target, const Value& var,
                             std::optional<Reduction> reduction, const Site& site) const {
  client::fail_if_empty(var, "gaussian_nll_loss: the variance", site);
  return detail::pair_loss("gaussian_nll_loss", input, target, reduction, site, [&](const Value& x, const Value& t) {
    const Value v = max(detail::operand_for(x, var), eps), e = x - t;
    const Value loss = (log(v) + e * e / v) * 0.5;
    return full ? loss + kHalfLogTwoPi : loss;
  });
}

}  // namespace burn::nn
