// Losses over all alignments of a model's outputs with a sequence of labels.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"
#include "nn/loss/reduction.h"
#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// Connectionist temporal classification (Graves et al., 2006). A sequence without a possible alignment has an infinite
// loss and a gradient of 0.
struct CTCLoss {
  std::int64_t blank = 0;
  bool zero_infinity = false;  // infinite losses become 0
  BURN_MODULE(CTCLoss)

  // The loss of each sequence. Shapes: log_probs [t, n, c] (of log_softmax), targets [n, s], lengths [n] -> [n].
  // Errors: shapes that do not fit; lengths above t and s, when the result is read.
  BURN_FORWARD(nullptr, (), Tensor<1>,
               (const Tensor<3>& log_probs, const Tensor<2, Int>& targets, const Tensor<1, Int>& input_lengths,
                const Tensor<1, Int>& target_lengths),
               (log_probs.value(), targets.value(), input_lengths.value(), target_lengths.value(), std::nullopt))
  // -> [1]. The mean divides each loss by the length of its target first.
  Tensor<1> forward_with_reduction(const Tensor<3>& log_probs, const Tensor<2, Int>& targets,
                                   const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths,
                                   Reduction reduction = Reduction::mean, Loc where = Loc::current()) const {
    return Tensor<1>{
        apply(log_probs.value(), targets.value(), input_lengths.value(), target_lengths.value(), reduction, at(where))};
  }
  // Without a reduction: the loss of each sequence.
  client::Value apply(const client::Value& log_probs, const client::Value& targets, const client::Value& input_lengths,
                      const client::Value& target_lengths, std::optional<Reduction> reduction,
                      const client::Site& site) const;
};

struct CTCLossConfig {
  std::int64_t blank = 0;
  bool zero_infinity = false;
  BURN_CONFIG(CTCLossConfig, blank, zero_infinity)

  CTCLoss init() const;  // Errors: a negative blank.
};

// The RNN transducer loss (Graves, arXiv:1211.3711).
struct RNNTLoss {
  std::int64_t blank = 0;
  bool logits = true;  // the input is logits; false: log-probabilities
  BURN_MODULE(RNNTLoss)

  // The loss of each sequence. Shapes: logits [n, t, u + 1, c], targets [n, u], lengths [n] -> [n]. Errors: as CTCLoss.
  BURN_FORWARD(nullptr, (), Tensor<1>,
               (const Tensor<4>& logits, const Tensor<2, Int>& targets, const Tensor<1, Int>& logit_lengths,
                const Tensor<1, Int>& target_lengths),
               (logits.value(), targets.value(), logit_lengths.value(), target_lengths.value(), std::nullopt))
  // -> [1]
  Tensor<1> forward_with_reduction(const Tensor<4>& logits, const Tensor<2, Int>& targets,
                                   const Tensor<1, Int>& logit_lengths, const Tensor<1, Int>& target_lengths,
                                   Reduction reduction = Reduction::mean, Loc where = Loc::current()) const {
    return Tensor<1>{
        apply(logits.value(), targets.value(), logit_lengths.value(), target_lengths.value(), reduction, at(where))};
  }
  // Without a reduction: the loss of each sequence.
  client::Value apply(const client::Value& logits, const client::Value& targets, const client::Value& logit_lengths,
                      const client::Value& target_lengths, std::optional<Reduction> reduction,
                      const client::Site& site) const;
};

struct RNNTLossConfig {
  std::int64_t blank = 0;
  bool logits = true;
  BURN_CONFIG(RNNTLossConfig, blank, logits)

  RNNTLoss init() const;  // Errors: a negative blank.
};

}  // namespace burn::nn
