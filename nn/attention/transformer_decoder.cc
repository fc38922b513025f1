#include "nn/attention/transformer_decoder.h"

#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

namespace {

// The new positions of a whole target, with their rows of the attention masks. The padding masks still have all keys.
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

Value TransformerDecoderLayer::apply_next(const TransformerDecoderValues& input,
                                          TransformerDecoderLayerAutoregressiveCache* cache, const Site& site) const {
  const auto found = [&](const MultiHeadAttention& attention, const MhaValues& asked, MhaCache* kept) {
    return dropout.apply(
        (kept != nullptr ? attention.apply_next(asked, *kept, site) : attention.apply(asked, site)).context, site);
  };
  const auto of_self = [&](const Value& x) {
    const MhaValues asked{.query = x,
                          .key = x,
                          .value = x,
                          .mask_pad = input.target_mask_pad,
                          .mask_attn = input.target_mask_attn,
                          .is_causal = input.is_causal};
    return found(self_attn, asked, cache != nullptr ? &cache->self_attn : nullptr);
  };
  const auto of_memory = [&](const Value& x) {
    const MhaValues asked{.query = x,
                          .key = input.memory,
                          .value = input.memory,
                          .mask_pad = input.memory_mask_pad,
                          .mask_attn = input.memory_mask_attn};
    return found(cross_attn, asked, cache != nullptr ? &cache->cross_attn : nullptr);
  };
  const auto of_feed_forward = [&](const Value& x) { return dropout.apply(pwff.apply(x, site), site); };
  const auto add = [&](const Value& a, const Value& b) { return client::pointwise(ir::PointwiseFn::add, a, b, site); };

  Value x = input.target;
  if (norm_first) {
    x = add(x, of_self(norm_3.apply(x, site)));
    x = add(x, of_memory(norm_1.apply(x, site)));
    return add(x, of_feed_forward(norm_2.apply(x, site)));
  }
  x = norm_1.apply(add(x, of_self(x)), site);
  x = norm_2.apply(add(x, of_memory(x)), site);
  return norm_3.apply(add(x, of_feed_forward(x)), site);
}

Value TransformerDecoderLayer::apply(const TransformerDecoderValues& input, const Site& site) const {
  return apply_next(input, nullptr, site);
}

Tensor<3> TransformerDecoderLayer::forward_autoregressive_inference(const TransformerDecoderInput& input,
                                                                    TransformerDecoderLayerAutoregressiveCache& cache,
                                                                    Loc where) const {
  const auto fresh = fresh_part(input, cache.output.length(where), where);
  return cache.output.append(forward_next(fresh, cache, where), where);
}

Value TransformerDecoder::apply(const TransformerDecoderValues& input, const Site& site) const {
  TransformerDecoderValues next = input;
  for (const auto& layer : layers) next.target = layer.apply(next, site);
  return next.target;
}

Tensor<3> TransformerDecoder::forward_autoregressive_inference(const TransformerDecoderInput& input,
                                                               TransformerDecoderAutoregressiveCache& cache,
                                                               Loc where) const {
  detail::check_layers("forward_autoregressive_inference", cache.layers.size(), layers.size(), where);
  auto next = fresh_part(input, cache.output.length(where), where).values();
  for (std::size_t i = 0; i < layers.size(); ++i) next.target = layers[i].apply_next(next, &cache.layers[i], at(where));
  return cache.output.append(Tensor<3>{next.target}, where);
}

}  // namespace burn::nn
