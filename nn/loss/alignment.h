// Losses over all alignments of what a model emits with a sequence of labels.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"
#include "nn/config.h"
#include "nn/loss/reduction.h"
#include "nn/module.h"

namespace burn::nn {

// Connectionist temporal classification (Graves et al., 2006). A sequence without a possible alignment has an infinite
// loss and a gradient of 0.
struct CTCLoss {
  std::int64_t blank = 0;
  bool zero_infinity = false;  // infinite losses become 0
  BURN_MODULE(CTCLoss)

  // The loss of each sequence. Shapes: log_probs [t, n, c] (of log_softmax), targets [n, s], lengths [n] -> [n].
  // Errors: shapes that do not fit; lengths above t and s, when the result is read.
  Tensor<1> forward(const Tensor<3>& log_probs, const Tensor<2, Int>& targets, const Tensor<1, Int>& input_lengths,
                    const Tensor<1, Int>& target_lengths, Loc where = Loc::current()) const;
  Tensor<1> operator()(const Tensor<3>& log_probs, const Tensor<2, Int>& targets, const Tensor<1, Int>& input_lengths,
                       const Tensor<1, Int>& target_lengths, Loc where = Loc::current()) const {
    return forward(log_probs, targets, input_lengths, target_lengths, where);
  }
  // -> [1]. The mean divides each loss by the length of its target first.
  Tensor<1> forward_with_reduction(const Tensor<3>& log_probs, const Tensor<2, Int>& targets,
                                   const Tensor<1, Int>& input_lengths, const Tensor<1, Int>& target_lengths,
                                   Reduction reduction = Reduction::mean, Loc where = Loc::current()) const;
};

struct CTCLossConfig {
  std::int64_t blank = 0;
  bool zero_infinity = false;
  BURN_CONFIG(CTCLossConfig, blank, zero_infinity)

  CTCLoss init() const;  // Errors: a negative blank.
};

// The transducer's loss (Graves, arXiv:1211.3711).
struct RNNTLoss {
  std::int64_t blank = 0;
  bool logits = true;  // otherwise log-probabilities are given
  BURN_MODULE(RNNTLoss)

  // The loss of each sequence. Shapes: logits [n, t, u + 1, c], targets [n, u], lengths [n] -> [n]. Errors: as CTCLoss.
  Tensor<1> forward(const Tensor<4>& logits, const Tensor<2, Int>& targets, const Tensor<1, Int>& logit_lengths,
                    const Tensor<1, Int>& target_lengths, Loc where = Loc::current()) const;
  Tensor<1> operator()(const Tensor<4>& logits, const Tensor<2, Int>& targets, const Tensor<1, Int>& logit_lengths,
                       const Tensor<1, Int>& target_lengths, Loc where = Loc::current()) const {
    return forward(logits, targets, logit_lengths, target_lengths, where);
  }
  Tensor<1> forward_with_reduction(const Tensor<4>& logits, const Tensor<2, Int>& targets,
                                   const Tensor<1, Int>& logit_lengths, const Tensor<1, Int>& target_lengths,
                                   Reduction reduction = Reduction::mean, Loc where = Loc::current()) const;  // -> [1]
};

struct RNNTLossConfig {
  std::int64_t blank = 0;
  bool logits = true;
  BURN_CONFIG(RNNTLossConfig, blank, logits)

  RNNTLoss init() const;  // Errors: a negative blank.
};

}  // namespace burn::nn
