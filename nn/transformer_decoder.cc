#include "nn/transformer_decoder.h"

#include "nn/checks.h"

namespace burn::nn {
namespace {

// What is new of a whole target, with its rows of the masks. The pads are of all keys.
TransformerDecoderInput fresh_part(const TransformerDecoderInput& input, std::int64_t seen, Loc where) {
  if (seen == 0) return input;
  TransformerDecoderInput fresh = input;
  const auto count = input.target.dim(1, where) - seen;
  fresh.target = input.target.narrow(1, seen, count, where);
  if (input.target_mask_attn) fresh.target_mask_attn = input.target_mask_attn->narrow(1, seen, count, where);
  if (input.memory_mask_attn) fresh.memory_mask_attn = input.memory_mask_attn->narrow(1, seen, count, where);
  return fresh;
}

}  // namespace

TransformerDecoderLayer TransformerDecoderConfig::init_layer(const Device& device) const {
  const MultiHeadAttentionConfig attention{.d_model = d_model,
                                           .n_heads = n_heads,
                                           .dropout = dropout,
                                           .quiet_softmax = quiet_softmax,
                                           .initializer = initializer};
  const LayerNormConfig norm{.d_model = d_model, .epsilon = layer_norm_eps};
  return {.cross_attn = attention.init(device),
          .self_attn = attention.init(device),
          .pwff = PositionWiseFeedForwardConfig{.d_model = d_model,
                                                .d_ff = d_ff,
                                                .dropout = dropout,
                                                .initializer = initializer,
                                                .activation = activation}
                      .init(device),
          .norm_1 = norm.init(device),
          .norm_2 = norm.init(device),
          .norm_3 = norm.init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .norm_first = norm_first};
}

TransformerDecoder TransformerDecoderConfig::init(const Device& device) const {
  detail::check_at_least("TransformerDecoderConfig", "n_layers", n_layers, 1);
  TransformerDecoder decoder;
  for (std::int64_t i = 0; i < n_layers; ++i) decoder.layers.push_back(init_layer(device));
  return decoder;
}

Tensor<3> TransformerDecoderLayer::run(const TransformerDecoderInput& input,
                                       TransformerDecoderLayerAutoregressiveCache* cache, Loc where) const {
  const auto found = [&](const MultiHeadAttention& attention, const MhaInput& asked, MhaCache* kept) {
    return dropout((kept != nullptr ? attention.forward_next(asked, *kept, where) : attention(asked, where)).context,
                   where);
  };
  const auto of_self = [&](const Tensor<3>& x) {
    auto asked = MhaInput::self_attn(x);
    asked.mask_pad = input.target_mask_pad;
    asked.mask_attn = input.target_mask_attn;
    asked.is_causal = input.is_causal;
    return found(self_attn, asked, cache != nullptr ? &cache->self_attn : nullptr);
  };
  const auto of_memory = [&](const Tensor<3>& x) {
    const MhaInput asked{.query = x,
                         .key = input.memory,
                         .value = input.memory,
                         .mask_pad = input.memory_mask_pad,
                         .mask_attn = input.memory_mask_attn};
    return found(cross_attn, asked, cache != nullptr ? &cache->cross_attn : nullptr);
  };
  const auto of_feed_forward = [&](const Tensor<3>& x) { return dropout(pwff(x, where), where); };

  Tensor<3> x = input.target;
  if (norm_first) {
    x = x.add(of_self(norm_3(x, where)), where);
    x = x.add(of_memory(norm_1(x, where)), where);
    return x.add(of_feed_forward(norm_2(x, where)), where);
  }
  x = norm_1(x.add(of_self(x), where), where);
  x = norm_2(x.add(of_memory(x), where), where);
  return norm_3(x.add(of_feed_forward(x), where), where);
}

Tensor<3> TransformerDecoderLayer::forward(const TransformerDecoderInput& input, Loc where) const {
  return run(input, nullptr, where);
}

Tensor<3> TransformerDecoderLayer::forward_next(const TransformerDecoderInput& fresh,
                                                TransformerDecoderLayerAutoregressiveCache& cache, Loc where) const {
  return run(fresh, &cache, where);
}

Tensor<3> TransformerDecoderLayer::forward_autoregressive_inference(const TransformerDecoderInput& input,
                                                                    TransformerDecoderLayerAutoregressiveCache& cache,
                                                                    Loc where) const {
  const auto fresh = fresh_part(input, cache.output.length(where), where);
  return cache.output.append(forward_next(fresh, cache, where), where);
}

Tensor<3> TransformerDecoder::forward(const TransformerDecoderInput& input, Loc where) const {
  TransformerDecoderInput next = input;
  for (const auto& layer : layers) next.target = layer.forward(next, where);
  return next.target;
}

Tensor<3> TransformerDecoder::forward_autoregressive_inference(const TransformerDecoderInput& input,
                                                               TransformerDecoderAutoregressiveCache& cache,
                                                               Loc where) const {
  detail::check_layers("forward_autoregressive_inference", cache.layers.size(), layers.size(), where);
  auto next = fresh_part(input, cache.output.length(where), where);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    next.target = layers[i].forward_next(next, cache.layers[i], where);
  }
  return cache.output.append(next.target, where);
}

}  // namespace burn::nn
