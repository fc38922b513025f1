// Losses summed over all alignments of two sequences: dynamic programs over log probabilities, each as one BandedScan
// op.
#pragma once

#include "client/ops/ops.h"

namespace burn::client {

// Connectionist temporal classification (Graves et al., 2006): minus the logarithm of the probability that the labels
// emitted in `input_lengths` steps, without repeats and blanks, are the first `target_lengths` of `targets`. log_probs:
// [t, n, c], targets: int [n, s], lengths: int [n] -> [n]. If no alignment is possible, the loss is infinity, with a
// gradient of 0. Lengths above t or s are errors of the run.
Value ctc_loss(const Value& log_probs, const Value& targets, const Value& input_lengths, const Value& target_lengths,
               std::int64_t blank, const Site& site);

// The transducer's loss (Graves, arXiv:1211.3711): minus the logarithm of the probability of `targets`, where each step
// either emits a label or, by a blank, advances to the next time step. log_probs: [n, t, u + 1, c], targets: int [n,
// u], lengths: int [n] -> [n].
Value rnnt_loss(const Value& log_probs, const Value& targets, const Value& logit_lengths, const Value& target_lengths,
                std::int64_t blank, const Site& site);

}  // namespace burn::client
