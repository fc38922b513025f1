// Distances and similarities of vectors, as modules.
#pragma once

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// The p-norm of x1 - x2 + eps over the last dim. The gradient at equal points with an eps of 0 is 0.
struct PairwiseDistance {
  double p = 2;
  double eps = 1e-6;
  BURN_MODULE(PairwiseDistance)

  // Shapes: [..., dim], [..., dim] -> [...]. Errors: shapes that do not broadcast.
  BURN_FORWARD(nullptr, (template <int D> requires(D >= 2)), Tensor<D - 1>, (const Tensor<D>& x1, const Tensor<D>& x2),
               (x1.value(), x2.value()))
  client::Value apply(const client::Value& x1, const client::Value& x2, const client::Site& site) const;
};
struct PairwiseDistanceConfig {
  double p = 2;
  double eps = 1e-6;
  BURN_CONFIG(PairwiseDistanceConfig, p, eps)
  PairwiseDistance init() const { return {.p = p, .eps = eps}; }
};

// a . b / (max(|a|, eps) max(|b|, eps)) along `dim`, which is removed.
struct CosineSimilarity {
  std::int64_t dim = 1;
  double eps = 1e-8;
  BURN_MODULE(CosineSimilarity)

  // Shapes: [..., dim, ...], [..., dim, ...] -> [..., ...]. Errors: shapes that do not broadcast.
  BURN_FORWARD(nullptr, (template <int D> requires(D >= 2)), Tensor<D - 1>, (const Tensor<D>& x1, const Tensor<D>& x2),
               (x1.value(), x2.value()))
  client::Value apply(const client::Value& x1, const client::Value& x2, const client::Site& site) const;
};
struct CosineSimilarityConfig {
  std::int64_t dim = 1;
  double eps = 1e-8;
  BURN_CONFIG(CosineSimilarityConfig, dim, eps)
  CosineSimilarity init() const { return {.dim = dim, .eps = eps}; }
};

}  // namespace burn::nn
