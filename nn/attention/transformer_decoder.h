// The decoder of a transformer (Vaswani et al., arXiv:1706.03762): attends to its own output so far and to a memory,
// the result of an encoder. For a network without a memory use an encoder with a causal mask:
// nn/attention/transformer.h.
#pragma once

#include <vector>

#include "nn/attention/transformer.h"

namespace burn::nn {

// The input of a decoder as values without ranks; TransformerDecoderInput documents the shapes.
struct TransformerDecoderValues {
  client::Value target, memory;
  std::optional<client::Value> target_mask_pad{}, target_mask_attn{}, memory_mask_pad{}, memory_mask_attn{};
  bool is_causal = false;
};

struct TransformerDecoderInput {
  Tensor<3> target, memory;                           // [batch, n, d_model], [batch, m, d_model]
  std::optional<Tensor<2, Bool>> target_mask_pad{};   // [batch, n], true: hidden
  std::optional<Tensor<3, Bool>> target_mask_attn{};  // [batch, n, n], true: hidden
  std::optional<Tensor<2, Bool>> memory_mask_pad{};   // [batch, m]
  std::optional<Tensor<3, Bool>> memory_mask_attn{};  // [batch, n, m]
  bool is_causal = false;                             // no target position sees later ones

  TransformerDecoderValues values() const {
    return {.target = target.value(),
            .memory = memory.value(),
            .target_mask_pad = detail::value_of(target_mask_pad),
            .target_mask_attn = detail::value_of(target_mask_attn),
            .memory_mask_pad = detail::value_of(memory_mask_pad),
            .memory_mask_attn = detail::value_of(memory_mask_attn),
            .is_causal = is_causal};
  }
};

// The caches of a layer and of a whole decoder between the steps of a generation; one for each sequence.
struct TransformerDecoderLayerAutoregressiveCache {
  MhaCache self_attn = MhaCache::autoregressive();
  MhaCache cross_attn = MhaCache::autoregressive_cross_attention();
  TensorCache<3> output{};  // of the positions so far
};
struct TransformerDecoderAutoregressiveCache {
  std::vector<TransformerDecoderLayerAutoregressiveCache> layers{};
  TensorCache<3> output{};
};

// norm_first: x + self_attn(norm_3(x)), then x + cross_attn(norm_1(x), memory), then x + pwff(norm_2(x)). Otherwise
// norm_1(x + self_attn(x)), norm_2(x + cross_attn(x, memory)), norm_3(x + pwff(x)). The numbering is that of Burn and
// its records.
struct TransformerDecoderLayer {
  MultiHeadAttention cross_attn, self_attn;
  PositionWiseFeedForward pwff;
  LayerNorm norm_1, norm_2, norm_3;
  Dropout dropout;
  bool norm_first = false;
  BURN_MODULE(TransformerDecoderLayer, cross_attn, self_attn, pwff, norm_1, norm_2, norm_3, dropout)

  // Shapes: target [batch, n, d_model] -> the same. Errors: another last dim, masks of another shape.
  BURN_FORWARD(nullptr, (), Tensor<3>, (const TransformerDecoderInput& input), (input.values()))
  client::Value apply(const TransformerDecoderValues& input, const client::Site& site) const;
  // One step of a generation: takes and returns the whole target so far, but computes the new positions only. No
  // position may see later ones: set is_causal, or pass such a target_mask_attn. The memory is that of the first step.
  // Errors: fewer positions than the cache has.
  Tensor<3> forward_autoregressive_inference(const TransformerDecoderInput& input,
                                             TransformerDecoderLayerAutoregressiveCache& cache,
                                             Loc where = Loc::current()) const;
  // As above, but takes and returns the new positions only; attention masks [batch, new, ...] of them, padding masks of
  // all.
  Tensor<3> forward_next(const TransformerDecoderInput& fresh, TransformerDecoderLayerAutoregressiveCache& cache,
                         Loc where = Loc::current()) const {
    return Tensor<3>{apply_next(fresh.values(), &cache, at(where))};
  }
  // Without a cache (null): apply().
  client::Value apply_next(const TransformerDecoderValues& fresh, TransformerDecoderLayerAutoregressiveCache* cache,
                           const client::Site& site) const;
};

struct TransformerDecoder {
  std::vector<TransformerDecoderLayer> layers;
  BURN_MODULE(TransformerDecoder, layers)

  // As TransformerDecoderLayer.
  BURN_FORWARD(nullptr, (), Tensor<3>, (const TransformerDecoderInput& input), (input.values()))
  client::Value apply(const TransformerDecoderValues& input, const client::Site& site) const;

  TransformerDecoderAutoregressiveCache new_autoregressive_cache() const {
    TransformerDecoderAutoregressiveCache cache;
    cache.layers.resize(layers.size());
    return cache;
  }
  // As TransformerDecoderLayer. Errors: a cache for another number of layers.
  Tensor<3> forward_autoregressive_inference(const TransformerDecoderInput& input,
                                             TransformerDecoderAutoregressiveCache& cache,
                                             Loc where = Loc::current()) const;
};

using TransformerDecoderConfig = TransformerConfig<TransformerDecoder>;
template <>
TransformerDecoder TransformerDecoderConfig::init(const Device& device) const;
template <>
TransformerDecoderLayer TransformerDecoderConfig::init_layer(const Device& device) const;

}  // namespace burn::nn
