// Multi-head attention (Vaswani et al., arXiv:1706.03762) and the masks for it.
#pragma once

#include <optional>

#include "nn/dropout.h"
#include "nn/functional.h"
#include "nn/linear.h"

namespace burn::nn {

// What attends to what. Masks are true where a key is hidden.
struct MhaInput {
  Tensor<3> query, key, value;                 // [batch, n, d_model], [batch, m, d_model], [batch, m, d_model]
  std::optional<Tensor<2, Bool>> mask_pad{};   // [batch, m]
  std::optional<Tensor<3, Bool>> mask_attn{};  // [batch, n, m]
  bool is_causal = false;                      // as generate_autoregressive_mask, without a mask in memory

  static MhaInput self_attn(const Tensor<3>& x) { return {.query = x, .key = x, .value = x}; }
};

struct MhaOutput {
  Tensor<4> weights;  // [batch, n_heads, n, m]; computed only if somebody reads it
  Tensor<3> context;  // [batch, n, d_model]
};

// Heads attend side by side, each in its part of d_model; `output` mixes what they found. Dropout falls on the weights,
// in training. With quiet_softmax the weights of a query may add up to less than 1 (e^x / (1 + sum e^x)).
//
// Hidden scores become min_float. At its default and below, where nothing is left of them, the weights are never formed
// for the context, and a query from which every key is hidden gives 0 instead of the mean of all values.
struct MultiHeadAttention {
  Linear query, key, value, output;
  Dropout dropout;
  std::int64_t d_model = 0, n_heads = 0;
  double min_float = -1e4;
  bool quiet_softmax = false;
  BURN_MODULE(MultiHeadAttention, query, key, value, output, dropout)

  // Errors: another last dim, masks of another shape.
  MhaOutput forward(const MhaInput& input, Loc where = Loc::current()) const;
  MhaOutput operator()(const MhaInput& input, Loc where = Loc::current()) const { return forward(input, where); }
};

struct MultiHeadAttentionConfig {
  std::int64_t d_model = 0, n_heads = 0;
  double dropout = 0.1;
  double min_float = -1e4;
  bool quiet_softmax = false;
  bool query_bias = true, key_bias = true, value_bias = true, output_bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(MultiHeadAttentionConfig, d_model, n_heads, dropout, min_float, quiet_softmax, query_bias, key_bias,
              value_bias, output_bias, initializer)

  MultiHeadAttention init(const Device& device) const;  // Errors: sizes below 1, heads that do not divide d_model.
};

// [batch, length, length]: every position sees itself and what came before.
Tensor<3, Bool> generate_autoregressive_mask(std::int64_t batch, std::int64_t length, const Device& device);

}  // namespace burn::nn
