// Multi-head attention (Vaswani et al., arXiv:1706.03762) and the masks for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nn/attention/cache.h"
#include "nn/layer/dropout.h"
#include "nn/layer/linear.h"
#include "nn/module/forward.h"

namespace burn::nn {

// What attends to what, without ranks; MhaInput has the shapes.
struct MhaValues {
  client::Value query, key, value;
  std::optional<client::Value> mask_pad{}, mask_attn{};
  bool is_causal = false;
};

// What attends to what. Masks are true where a key is hidden.
struct MhaInput {
  Tensor<3> query, key, value;                 // [batch, n, d_model], [batch, m, d_model], [batch, m, d_model]
  std::optional<Tensor<2, Bool>> mask_pad{};   // [batch, m]
  std::optional<Tensor<3, Bool>> mask_attn{};  // [batch, n, m]
  bool is_causal = false;                      // as generate_autoregressive_mask, without a mask in memory

  static MhaInput self_attn(const Tensor<3>& x) { return {.query = x, .key = x, .value = x}; }
  MhaValues values() const {
    return {.query = query.value(),
            .key = key.value(),
            .value = value.value(),
            .mask_pad = detail::value_of(mask_pad),
            .mask_attn = detail::value_of(mask_attn),
            .is_causal = is_causal};
  }
};

struct MhaOutput {
  Tensor<4> weights;  // [batch, n_heads, n, m]; computed only if it is read
  Tensor<3> context;  // [batch, n, d_model]
};
// The same without ranks.
struct MhaValuesOutput {
  client::Value weights, context;
  explicit operator MhaOutput() const { return {.weights = Tensor<4>{weights}, .context = Tensor<3>{context}}; }
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
  BURN_FORWARD(nullptr, (), MhaOutput, (const MhaInput& input), (input.values()))
  MhaValuesOutput apply(const MhaValues& input, const client::Site& site) const;

  // One step of a generation. `input` is of the whole sequence so far (and of the memory, for a cache of cross
  // attention); only queries that are new are computed, and the context of all of them is returned, their weights
  // [batch, n_heads, new, m] alone. A position must not see later ones: is_causal, or a mask that says so. Errors: as
  // forward(); fewer positions than the cache has.
  MhaOutput forward_cache(const MhaInput& input, MhaCache& cache, Loc where = Loc::current()) const;
  // The same of the new positions alone, in and out: query, key, value [batch, new, d_model], mask_pad [batch, m] of
  // all keys, mask_attn [batch, new, m]. The cache's `output` stays as it is.
  MhaOutput forward_next(const MhaInput& fresh, MhaCache& cache, Loc where = Loc::current()) const {
    return MhaOutput(apply_next(fresh.values(), cache, at(where)));
  }
  MhaValuesOutput apply_next(const MhaValues& fresh, MhaCache& cache, const client::Site& site) const;

 private:
  // Queries [batch, n, d_model], keys and values [batch, m, d_model], projected; with the masks of `input`.
  MhaValuesOutput attend(const client::Value& q, const client::Value& k, const client::Value& v, const MhaValues& input,
                         const client::Site& site) const;
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

// How long sequences of different lengths are made.
struct SeqLengthOption {
  std::optional<std::int64_t> max{}, fixed{};  // at most so long; exactly so long. Neither: as the longest
  static SeqLengthOption no_max() { return {}; }
  static SeqLengthOption at_most(std::int64_t length) { return {.max = length}; }
  static SeqLengthOption exactly(std::int64_t length) { return {.fixed = length}; }
};
struct GeneratePaddingMask {
  Tensor<2, Int> tensor;  // [batch, length]: the tokens, then the padding
  Tensor<2, Bool> mask;   // [batch, length]: true where there is padding
};
// Sequences of tokens side by side, filled up with `pad_token`; what does not fit is cut off. Errors: no sequence; a
// negative length.
GeneratePaddingMask generate_padding_mask(std::int64_t pad_token, const std::vector<std::vector<std::int64_t>>& tokens,
                                          const SeqLengthOption& length, const Device& device,
                                          Loc where = Loc::current());

}  // namespace burn::nn
