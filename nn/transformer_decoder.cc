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

template <>
TransformerDecoderLayer TransformerDecoderConfig::init_layer(const Device& device) const {
  return {.cross_attn = attention().init(device),
          .self_attn = attention().init(device),
          .pwff = feed_forward().init(device),
          .norm_1 = norm().init(device),
          .norm_2 = norm().init(device),
          .norm_3 = norm().init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .norm_first = norm_first};
}

template <>
TransformerDecoder TransformerDecoderConfig::init(const Device& device) const {
  return detail::init_layers("TransformerDecoderConfig", *this, device);
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
  const auto step = [&](std::size_t i, const TransformerDecoderInput& next) { return layers[i].forward(next, where); };
  return detail::through_layers(layers.size(), input, &TransformerDecoderInput::target, step);
}

Tensor<3> TransformerDecoder::forward_autoregressive_inference(const TransformerDecoderInput& input,
                                                               TransformerDecoderAutoregressiveCache& cache,
                                                               Loc where) const {
  detail::check_layers("forward_autoregressive_inference", cache.layers.size(), layers.size(), where);
  const auto step = [&](std::size_t i, const TransformerDecoderInput& next) {
    return layers[i].forward_next(next, cache.layers[i], where);
  };
  const auto fresh = fresh_part(input, cache.output.length(where), where);
  return cache.output.append(detail::through_layers(layers.size(), fresh, &TransformerDecoderInput::target, step),
                             where);
}

}  // namespace burn::nn
