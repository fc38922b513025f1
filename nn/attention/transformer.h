// The encoder of a transformer (Vaswani et al., arXiv:1706.03762). With a causal mask it is the decoder-only network of
// language models.
#pragma once

#include <vector>

#include "nn/attention/attention.h"
#include "nn/attention/feed_forward.h"
#include "nn/attention/transformer_config.h"
#include "nn/norm/layer_norm.h"

namespace burn::nn {

// The input of an encoder as values without ranks; TransformerEncoderInput documents the shapes.
struct TransformerEncoderValues {
  client::Value tensor;
  std::optional<client::Value> mask_pad{}, mask_attn{};
  bool is_causal = false;
};

struct TransformerEncoderInput {
  Tensor<3> tensor;                            // [batch, length, d_model]
  std::optional<Tensor<2, Bool>> mask_pad{};   // [batch, length], true: hidden
  std::optional<Tensor<3, Bool>> mask_attn{};  // [batch, length, length], true: hidden
  bool is_causal = false;                      // no position sees later ones

  TransformerEncoderValues values() const {
    return {.tensor = tensor.value(),
            .mask_pad = detail::value_of(mask_pad),
            .mask_attn = detail::value_of(mask_attn),
            .is_causal = is_causal};
  }
};

// The caches of a layer and of a whole encoder between the steps of a generation; one for each sequence.
struct TransformerEncoderLayerAutoregressiveCache {
  MhaCache mha{};
  TensorCache<3> output{};  // of the positions so far
};
struct TransformerEncoderAutoregressiveCache {
  std::vector<TransformerEncoderLayerAutoregressiveCache> layers{};
  TensorCache<3> output{};
};

// norm_first: x + attention(norm_2(x)), then x + feed_forward(norm_1(x)). Otherwise norm_1(x + attention(x)), then
// norm_2(x + feed_forward(x)). The numbering is that of Burn and its records.
struct TransformerEncoderLayer {
  MultiHeadAttention mha;
  PositionWiseFeedForward pwff;
  LayerNorm norm_1, norm_2;
  Dropout dropout;
  bool norm_first = false;
  BURN_MODULE(TransformerEncoderLayer, mha, pwff, norm_1, norm_2, dropout)

  // Shapes: [batch, length, d_model] -> the same. Errors: another last dim, masks of another shape.
  BURN_FORWARD(nullptr, (), Tensor<3>, (const TransformerEncoderInput& input), (input.values()))
  client::Value apply(const TransformerEncoderValues& input, const client::Site& site) const;
  // One step of a generation: takes and returns the whole sequence so far, but computes the new positions only. No
  // position may see later ones: set is_causal, or pass such a mask_attn. Errors: fewer positions than the cache has.
  Tensor<3> forward_autoregressive_inference(const TransformerEncoderInput& input,
                                             TransformerEncoderLayerAutoregressiveCache& cache,
                                             Loc where = Loc::current()) const;
  // As above, but takes and returns the new positions only: mask_pad [batch, m] of all, mask_attn [batch, new, m].
  Tensor<3> forward_next(const TransformerEncoderInput& fresh, MhaCache& cache, Loc where = Loc::current()) const {
    return Tensor<3>{apply_next(fresh.values(), &cache, at(where))};
  }
  // Without a cache (null): apply().
  client::Value apply_next(const TransformerEncoderValues& fresh, MhaCache* cache, const client::Site& site) const;
};

struct TransformerEncoder {
  std::vector<TransformerEncoderLayer> layers;
  BURN_MODULE(TransformerEncoder, layers)

  // As TransformerEncoderLayer.
  BURN_FORWARD(nullptr, (), Tensor<3>, (const TransformerEncoderInput& input), (input.values()))
  client::Value apply(const TransformerEncoderValues& input, const client::Site& site) const;

  TransformerEncoderAutoregressiveCache new_autoregressive_cache() const {
    TransformerEncoderAutoregressiveCache cache;
    cache.layers.resize(layers.size());
    return cache;
  }
  // As TransformerEncoderLayer. Errors: a cache for another number of layers.
  Tensor<3> forward_autoregressive_inference(const TransformerEncoderInput& input,
                                             TransformerEncoderAutoregressiveCache& cache,
                                             Loc where = Loc::current()) const;
};

using TransformerEncoderConfig = TransformerConfig<TransformerEncoder>;
template <>
TransformerEncoder TransformerEncoderConfig::init(const Device& device) const;
template <>
TransformerEncoderLayer TransformerEncoderConfig::init_layer(const Device& device) const;

}  // namespace burn::nn
