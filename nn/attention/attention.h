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

// The input of attention as values without ranks; MhaInput documents the shapes.
struct MhaValues {
  client::Value query, key, value;
  std::optional<client::Value> mask_pad{}, mask_attn{};
  bool is_causal = false;
};

// The input of attention. Masks are true where a key is hidden.
struct MhaInput {
  Tensor<3> query, key, value;                 // [batch, n, d_model], [batch, m, d_model], [batch, m, d_model]
  std::optional<Tensor<2, Bool>> mask_pad{};   // [batch, m]
  std::optional<Tensor<3, Bool>> mask_attn{};  // [batch, n, m]
  bool is_causal = false;                      // same as generate_autoregressive_mask(), but stores no mask

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
// MhaOutput without ranks.
struct MhaValuesOutput {
  client::Value weights, context;
  explicit operator MhaOutput() const { return {.weights = Tensor<4>{weights}, .context = Tensor<3>{context}}; }
};

// Each head attends within its own part of d_model; `output` projects the concatenated heads. In training, dropout
// applies to the weights. With quiet_softmax the weights of a query may add up to less than 1 (e^x / (1 + sum e^x)).
//
// Hidden scores become min_float. At its default and below, hidden keys get a weight of 0. Without quiet_softmax and
// dropout the context is then computed without storing the weights, and a query from which every key is hidden yields 0
// instead of the mean of all values.
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

  // One step of a generation. `input` has the whole sequence so far (and the memory, for a cache of cross attention).
  // Only the new queries are computed; the result has the context of all positions, but the weights [batch, n_heads,
  // new, m] of the new ones only. No position may see later ones: set is_causal, or pass such a mask. Errors: as
  // forward(); fewer positions than the cache has.
  MhaOutput forward_cache(const MhaInput& input, MhaCache& cache, Loc where = Loc::current()) const;
  // As forward_cache(), but takes and returns the new positions only: query, key, value [batch, new, d_model], mask_pad
  // [batch, m] of all keys, mask_attn [batch, new, m]. Does not change the cache's `output`.
  MhaOutput forward_next(const MhaInput& fresh, MhaCache& cache, Loc where = Loc::current()) const {
    return MhaOutput(apply_next(fresh.values(), cache, at(where)));
  }
  MhaValuesOutput apply_next(const MhaValues& fresh, MhaCache& cache, const client::Site& site) const;

 private:
  // Attention of projected queries [batch, n, d_model] to projected keys and values [batch, m, d_model], with the masks
  // of `input`.
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

// [batch, length, length]: true (hidden) where a key is later than the query.
Tensor<3, Bool> generate_autoregressive_mask(std::int64_t batch, std::int64_t length, const Device& device);

// The common length that sequences are padded or cut to.
struct SeqLengthOption {
  std::optional<std::int64_t> max{}, fixed{};  // at most this; exactly this. Neither: the longest sequence
  static SeqLengthOption no_max() { return {}; }
  static SeqLengthOption at_most(std::int64_t length) { return {.max = length}; }
  static SeqLengthOption exactly(std::int64_t length) { return {.fixed = length}; }
};
struct GeneratePaddingMask {
  Tensor<2, Int> tensor;  // [batch, length]: the tokens, then the padding
  Tensor<2, Bool> mask;   // [batch, length]: true where there is padding
};
// Stacks sequences of tokens, padded with `pad_token` or cut off to the common length. Errors: no sequence; a negative
// length.
GeneratePaddingMask generate_padding_mask(std::int64_t pad_token, const std::vector<std::vector<std::int64_t>>& tokens,
                                          const SeqLengthOption& length, const Device& device,
                                          Loc where = Loc::current());

}  // namespace burn::nn
