#include "nn/loss/sequence.h"

#include <limits>

#include "client/ops/formula.h"
#include "client/ops/sequence_loss.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

CTCLoss CTCLossConfig::init() const {
  detail::check_at_least("CTCLossConfig", "blank", blank, 0);
  return {.blank = blank, .zero_infinity = zero_infinity};
}

Value CTCLoss::apply(const Value& log_probs, const Value& targets, const Value& input_lengths,
                     const Value& target_lengths, std::optional<Reduction> reduction, const Site& site) const {
  const client::SiteScope scope{site};
  Value losses = client::ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, site);
  if (zero_infinity) losses = select(losses == std::numeric_limits<double>::infinity(), 0.0, losses);
  if (!reduction) return losses;
  if (*reduction != Reduction::mean && *reduction != Reduction::auto_)
    return detail::reduce_loss(losses, *reduction, site);
  const Value lengths = client::cast(target_lengths, losses.dtype(), site);
  return detail::reduce_loss(losses / max(lengths, 1.0), Reduction::mean, site);
}

RNNTLoss RNNTLossConfig::init() const {
  detail::check_at_least("RNNTLossConfig", "blank", blank, 0);
  return {.blank = blank, .logits = logits};
}

Value RNNTLoss::apply(const Value& x, const Value& targets, const Value& logit_lengths, const Value& target_lengths,
                      std::optional<Reduction> reduction, const Site& site) const {
  const Value log_probs = logits ? client::log_softmax(x, -1, site) : x;
  const Value losses = client::rnnt_loss(log_probs, targets, logit_lengths, target_lengths, blank, site);
  return reduction ? detail::reduce_loss(losses, *reduction, site) : losses;
}

}  // namespace burn::nn
