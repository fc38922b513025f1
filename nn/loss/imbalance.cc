#include "nn/loss/imbalance.h"

#include <numeric>

#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/loss/pair.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

FocalLoss FocalLossConfig::init() const {
  if (!(alpha <= 1)) detail::reject("FocalLossConfig", "alpha is " + std::to_string(alpha) + ", must be at most 1");
  if (!(gamma >= 0)) detail::reject("FocalLossConfig", "gamma is " + std::to_string(gamma) + ", must not be negative");
  return {.alpha = alpha, .gamma = gamma};
}

DiceLoss DiceLossConfig::init() const {
  if (!(smooth >= 0))
    detail::reject("DiceLossConfig", "smooth is " + std::to_string(smooth) + ", must not be negative");
  return {.smooth = smooth, .logits = logits, .squared = squared};
}

Value FocalLoss::apply(const Value& logits, const Value& targets, std::optional<Reduction> reduction,
                       const Site& site) const {
  return detail::pair_loss("focal_loss", logits, targets, reduction, site, [&](const Value& x, const Value& t) {
    const Value p = sigmoid(x);
    const Value entropy = (1.0 - t) * x - client::log_sigmoid(x, site);
    const Value missing = p + t - p * t * 2.0;  // 1 - the probability of the target
    Value loss = gamma == 0 ? entropy : entropy * (gamma == 2 ? missing * missing : pow(missing, gamma));
    if (alpha >= 0) loss = loss * (t * alpha + (1.0 - t) * (1 - alpha));
    return loss;
  });
}

Value DiceLoss::apply(const Value& predictions, const Value& targets, std::optional<Reduction> reduction,
                      const Site& site) const {
  detail::check_same_shape("dice_loss", "predictions", predictions, "targets", targets, site);
  detail::check_rank_at_least("dice_loss", predictions, 2, site);
  return client::in_wide_dtype(predictions, site, [&](const Value& x) {
    const Value p = logits ? sigmoid(x) : x, t = detail::operand_for(x, targets);
    ir::Dims axes = ir::Dims::filled(x.rank() - 1, 0);
    std::iota(axes.begin(), axes.end(), 1);
    const auto sum = [&](const Value& of) {
      return client::reshape(client::reduce(ir::ReduceFn::sum, of, axes, site), {x.dim(0)}, site);
    };
    const Value both = sum(p * t) * 2.0 + smooth;
    const Value each = squared ? sum(p * p) + sum(t * t) + smooth : sum(p) + sum(t) + smooth;
    return detail::reduced(1.0 - both / each, reduction, site);
  });
}

}  // namespace burn::nn
