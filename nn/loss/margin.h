// Margin losses: 0 once a distance or score exceeds a margin.
#pragma once

#include "nn/loss/loss_module.h"
#include "nn/module/config.h"

namespace burn::nn {

// The input where the target is 1, max(0, margin - input) where it is -1.
struct HingeEmbeddingLoss {
  double margin = 1;
  BURN_PAIR_LOSS(HingeEmbeddingLoss, Reduction::auto_)
};
struct HingeEmbeddingLossConfig {
  double margin = 1;
  BURN_CONFIG(HingeEmbeddingLossConfig, margin)
  HingeEmbeddingLoss init() const { return {.margin = margin}; }
};

// log(1 + e^(-target input)) for targets 1 and -1, in a form that does not overflow.
struct SoftMarginLoss {
  BURN_PAIR_LOSS(SoftMarginLoss, Reduction::auto_)
};
struct SoftMarginLossConfig {
  BURN_CONFIG(SoftMarginLossConfig)
  SoftMarginLoss init() const { return {}; }
};

// max(0, -target (first - second) + margin): the first should rank higher where the target is 1, the second where it is
// -1.
struct MarginRankingLoss {
  double margin = 0;
  BURN_MODULE(MarginRankingLoss)

  // Shapes: [...] three times -> [1]. Errors: shapes that differ.
  BURN_LOSS_METHODS((template <int D, Kind K>), Tensor<D>, Reduction::auto_,
                    (const Tensor<D>& first, const Tensor<D>& second, const Tensor<D, K>& target),
                    (first.value(), second.value(), target.value()))

  client::Value apply(const client::Value& first, const client::Value& second, const client::Value& target,
                      std::optional<Reduction> reduction, const client::Site& site) const;
};
struct MarginRankingLossConfig {
  double margin = 0;
  BURN_CONFIG(MarginRankingLossConfig, margin)
  MarginRankingLoss init() const { return {.margin = margin}; }
};

// max(0, d(anchor, positive) - d(anchor, negative) + margin), where d is the p-norm of the difference. The gradient of
// d at equal points, where it is undefined, is taken as 0.
struct TripletMarginLoss {
  double margin = 1;
  double p = 2;
  BURN_MODULE(TripletMarginLoss)

  // Shapes: [batch, dim] three times -> [1]; forward_no_reduction: -> [batch]. Errors: shapes that differ.
  BURN_LOSS_METHODS((), Tensor<1>, Reduction::auto_,
                    (const Tensor<2>& anchor, const Tensor<2>& positive, const Tensor<2>& negative),
                    (anchor.value(), positive.value(), negative.value()))

  client::Value apply(const client::Value& anchor, const client::Value& positive, const client::Value& negative,
                      std::optional<Reduction> reduction, const client::Site& site) const;
};
struct TripletMarginLossConfig {
  double margin = 1;
  double p = 2;
  BURN_CONFIG(TripletMarginLossConfig, margin, p)
  TripletMarginLoss init() const { return {.margin = margin, .p = p}; }
};

// The sum over the other classes i of max(0, margin - x[target] + x[i])^p, divided by the number of classes; p is 1
// or 2.
struct MultiMarginLoss {
  double margin = 1;
  std::int64_t p = 1;
  BURN_MODULE(MultiMarginLoss)

  // Shapes: [batch, class], [batch] -> [1]. Errors: another number of targets. A target outside the classes is an error
  // of the run. forward_no_reduction: -> [batch].
  BURN_LOSS_METHODS((), Tensor<1>, Reduction::auto_, (const Tensor<2>& input, const Tensor<1, Int>& target),
                    (input.value(), target.value()))

  client::Value apply(const client::Value& input, const client::Value& target, std::optional<Reduction> reduction,
                      const client::Site& site) const;
};
struct MultiMarginLossConfig {
  double margin = 1;
  std::int64_t p = 1;
  BURN_CONFIG(MultiMarginLossConfig, margin, p)
  MultiMarginLoss init() const;  // Errors: a negative margin; a p other than 1 and 2.
};

// 1 - cos(first, second) where the target is 1, max(0, cos - margin) where it is -1, 0 where it is neither. The cosine
// with a vector of zeros is 0, and so is its gradient.
struct CosineEmbeddingLoss {
  double margin = 0;
  Reduction reduction = Reduction::mean;
  BURN_MODULE(CosineEmbeddingLoss)

  // Shapes: [batch, dim], [batch, dim], [batch] -> [1]. Errors: shapes that do not fit.
  BURN_FORWARD(nullptr, (), Tensor<1>, (const Tensor<2>& first, const Tensor<2>& second, const Tensor<1, Int>& target),
               (first.value(), second.value(), target.value(), reduction))
  // -> [batch]
  Tensor<1> forward_no_reduction(const Tensor<2>& first, const Tensor<2>& second, const Tensor<1, Int>& target,
                                 Loc where = Loc::current()) const {
    return Tensor<1>{apply(first.value(), second.value(), target.value(), std::nullopt, at(where))};
  }

  client::Value apply(const client::Value& first, const client::Value& second, const client::Value& target,
                      std::optional<Reduction> how, const client::Site& site) const;
};
struct CosineEmbeddingLossConfig {
  double margin = 0;
  Reduction reduction = Reduction::mean;
  BURN_CONFIG(CosineEmbeddingLossConfig, margin, reduction)
  CosineEmbeddingLoss init() const { return {.margin = margin, .reduction = reduction}; }
};

}  // namespace burn::nn
