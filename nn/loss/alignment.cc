#include "nn/loss/alignment.h"

#include <limits>

#include "client/ops/alignment.h"
#include "client/ops/formula.h"
#include "nn/checks.h"

namespace burn::nn {

CTCLoss CTCLossConfig::init() const {
  detail::check_at_least("CTCLossConfig", "blank", blank, 0);
  return {.blank = blank, .zero_infinity = zero_infinity};
}

Tensor<1> CTCLoss::forward(const Tensor<3>& log_probs, const Tensor<2, Int>& targets,
                           const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths, Loc where) const {
  const client::SiteScope scope{at(where)};
  const client::Value loss = client::ctc_loss(log_probs.value(), targets.value(), input_lengths.value(),
                                              target_lengths.value(), blank, at(where));
  if (!zero_infinity) return Tensor<1>{loss};
  return Tensor<1>{select(loss == std::numeric_limits<double>::infinity(), 0.0, loss)};
}

Tensor<1> CTCLoss::forward_with_reduction(const Tensor<3>& log_probs, const Tensor<2, Int>& targets,
                                          const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths,
                                          Reduction reduction, Loc where) const {
  const auto site = at(where);
  const client::SiteScope scope{site};
  const client::Value losses = forward(log_probs, targets, input_lengths, target_lengths, where).value();
  if (reduction != Reduction::mean && reduction != Reduction::auto_)
    return Tensor<1>{detail::reduce_loss(losses, reduction, site)};
  const client::Value lengths = client::cast(target_lengths.value(), losses.dtype(), site);
  return Tensor<1>{detail::reduce_loss(losses / max(lengths, 1.0), Reduction::mean, site)};
}

RNNTLoss RNNTLossConfig::init() const {
  detail::check_at_least("RNNTLossConfig", "blank", blank, 0);
  return {.blank = blank, .logits = logits};
}

Tensor<1> RNNTLoss::forward(const Tensor<4>& x, const Tensor<2, Int>& targets, const Tensor<1, Int>& logit_lengths,
                            const Tensor<1, Int>& target_lengths, Loc where) const {
  const auto site = at(where);
  const client::Value log_probs = logits ? client::log_softmax(x.value(), -1, site) : x.value();
  return Tensor<1>{
      client::rnnt_loss(log_probs, targets.value(), logit_lengths.value(), target_lengths.value(), blank, site)};
}

Tensor<1> RNNTLoss::forward_with_reduction(const Tensor<4>& x, const Tensor<2, Int>& targets,
                                           const Tensor<1, Int>& logit_lengths, const Tensor<1, Int>& target_lengths,
                                           Reduction reduction, Loc where) const {
  return Tensor<1>{
      detail::reduce_loss(forward(x, targets, logit_lengths, target_lengths, where).value(), reduction, at(where))};
}

}  // namespace burn::nn
