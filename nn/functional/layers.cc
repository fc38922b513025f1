#include "nn/functional/layers.h"

#include "client/fail.h"
#include "client/ops/sequence_loss.h"
#include "nn/layer/embedding.h"
#include "nn/norm/batch_norm.h"

namespace burn::module {

client::Value detail::batch_norm(const client::Value& x, const client::Value& gamma, const client::Value& beta,
                                 const client::Value& mean, const client::Value& var, double epsilon,
                                 const client::Site& site) {
  client::fail_if_empty(x, "batch_norm", site);
  for (const client::Value* channel : {&gamma, &beta, &mean, &var}) {
    client::fail_if_empty(*channel, "batch_norm: gamma, beta, mean or variance", site);
    if (channel->dim(0) == x.dim(1)) continue;
    client::fail("batch_norm: one of gamma, beta, mean and variance has " + std::to_string(channel->dim(0)) +
                     " channels, the input is " + ir::to_string(x.type()),
                 site);
  }
  return nn::detail::batch_norm(x, gamma, beta, mean, var, epsilon, site);
}

Tensor<3> embedding(const Tensor<2>& weights, const Tensor<2, Int>& indices, Loc where) {
  return Tensor<3>{nn::detail::embedding(weights.value(), indices.value(), false, at(where, "embedding"))};
}

Tensor<1> ctc_loss(const Tensor<3>& log_probs, const Tensor<2, Int>& targets, const Tensor<1, Int>& input_lengths,
                   const Tensor<1, Int>& target_lengths, std::int64_t blank, Loc where) {
  return Tensor<1>{client::ctc_loss(log_probs.value(), targets.value(), input_lengths.value(), target_lengths.value(),
                                    blank, at(where, "ctc_loss"))};
}

}  // namespace burn::module
