// Attention of one sequence to another, which may have a different number of features; optionally with fewer heads of
// keys than of queries (Ainslie et al., arXiv:2305.13245).
#pragma once

#include <optional>

#include "nn/attention/cache.h"
#include "nn/layer/dropout.h"
#include "nn/layer/linear.h"
#include "nn/module/forward.h"

namespace burn::nn {

// The context's projected keys and values, computed by the first step of a generation.
struct CrossAttentionCache {
  TensorCache<3> key{}, value{};  // [batch, m, n_heads_kv d_head]
};

// n_heads heads of queries share n_heads_kv heads of keys and values: each of these serves n_heads / n_heads_kv
// adjacent heads of queries. In training, dropout applies to the weights. Hidden scores become min_float.
struct CrossAttention {
  Linear query, key, value, output;
  Dropout dropout;
  std::int64_t n_heads = 0, n_heads_kv = 0, d_head = 0;
  double min_float = -1e4;
  bool quiet_softmax = false;
  BURN_MODULE(CrossAttention, query, key, value, output, dropout)

  // Shapes: x [batch, n, d_model], context [batch, m, d_context], mask [batch, m] (true: hidden) -> [batch, n,
  // d_model]. Errors: other features, a mask of another shape.
  BURN_FORWARD(nullptr, (), Tensor<3>,
               (const Tensor<3>& x, const Tensor<3>& context,
                const std::optional<Tensor<2, Bool>>& mask = std::nullopt),
               (x.value(), context.value(), mask ? &mask->value() : nullptr))
  // One step of a generation; `context` is read in the first step only.
  Tensor<3> forward_cache(const Tensor<3>& x, const Tensor<3>& context, const std::optional<Tensor<2, Bool>>& mask,
                          CrossAttentionCache& cache, Loc where = Loc::current()) const {
    return Tensor<3>{apply_cache(x.value(), context.value(), mask ? &mask->value() : nullptr, cache, at(where))};
  }
  // `mask` may be null.
  client::Value apply(const client::Value& x, const client::Value& context, const client::Value* mask,
                      const client::Site& site) const;
  client::Value apply_cache(const client::Value& x, const client::Value& context, const client::Value* mask,
                            CrossAttentionCache& cache, const client::Site& site) const;
};

struct CrossAttentionConfig {
  std::int64_t d_model = 0, d_context = 0;  // features of the queries' sequence and of the context
  std::int64_t n_heads = 0, n_heads_kv = 0, d_head = 0;
  double dropout = 0.1;
  double min_float = -1e4;
  bool quiet_softmax = false;
  BURN_CONFIG(CrossAttentionConfig, d_model, d_context, n_heads, n_heads_kv, d_head, dropout, min_float, quiet_softmax)

  CrossAttention init(const Device& device) const;  // Errors: sizes below 1; n_heads_kv that does not divide n_heads.
};

}  // namespace burn::nn
