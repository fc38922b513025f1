#include "nn/attention/transformer.h"

#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

template <>
TransformerEncoderLayer TransformerEncoderConfig::init_layer(const Device& device) const {
  return {.mha = attention().init(device),
          .pwff = feed_forward().init(device),
          .norm_1 = norm().init(device),
          .norm_2 = norm().init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .norm_first = norm_first};
}

template <>
TransformerEncoder TransformerEncoderConfig::init(const Device& device) const {
  return detail::init_layers("TransformerEncoderConfig", *this, device);
}

namespace {

// The new positions of a whole sequence, with their rows of mask_attn. mask_pad still has all keys.
TransformerEncoderInput fresh_part(const TransformerEncoderInput& input, std::int64_t seen, Loc where) {
  if (seen == 0) return input;
  TransformerEncoderInput fresh = input;
  const auto count = input.tensor.dim(1, where) - seen;
  fresh.tensor = input.tensor.narrow(1, seen, count, where);
  if (input.mask_attn) fresh.mask_attn = input.mask_attn->narrow(1, seen, count, where);
  return fresh;
}

}  // namespace

Value TransformerEncoderLayer::apply_next(const TransformerEncoderValues& input, MhaCache* cache,
                                          const Site& site) const {
  const auto attend = [&](const Value& x) {
    const MhaValues self{.query = x,
                         .key = x,
                         .value = x,
                         .mask_pad = input.mask_pad,
                         .mask_attn = input.mask_attn,
                         .is_causal = input.is_causal};
    return dropout.apply((cache != nullptr ? mha.apply_next(self, *cache, site) : mha.apply(self, site)).context, site);
  };
  const auto add = [&](const Value& a, const Value& b) { return client::pointwise(ir::PointwiseFn::add, a, b, site); };
  const auto feed_forward = [&](const Value& x) { return dropout.apply(pwff.apply(x, site), site); };
  const Value& x = input.tensor;
  if (norm_first) {
    const Value attended = add(x, attend(norm_2.apply(x, site)));
    return add(attended, feed_forward(norm_1.apply(attended, site)));
  }
  const Value attended = norm_1.apply(add(x, attend(x)), site);
  return norm_2.apply(add(attended, feed_forward(attended)), site);
}

Value TransformerEncoderLayer::apply(const TransformerEncoderValues& input, const Site& site) const {
  return apply_next(input, nullptr, site);
}

Tensor<3> TransformerEncoderLayer::forward_autoregressive_inference(const TransformerEncoderInput& input,
                                                                    TransformerEncoderLayerAutoregressiveCache& cache,
                                                                    Loc where) const {
  const auto fresh = fresh_part(input, cache.output.length(where), where);
  return cache.output.append(forward_next(fresh, cache.mha, where), where);
}

Value TransformerEncoder::apply(const TransformerEncoderValues& input, const Site& site) const {
  TransformerEncoderValues next = input;
  for (const auto& layer : layers) next.tensor = layer.apply(next, site);
  return next.tensor;
}

Tensor<3> TransformerEncoder::forward_autoregressive_inference(const TransformerEncoderInput& input,
                                                               TransformerEncoderAutoregressiveCache& cache,
                                                               Loc where) const {
  detail::check_layers("forward_autoregressive_inference", cache.layers.size(), layers.size(), where);
  auto next = fresh_part(input, cache.output.length(where), where).values();
  for (std::size_t i = 0; i < layers.size(); ++i)
    next.tensor = layers[i].apply_next(next, &cache.layers[i].mha, at(where));
  return cache.output.append(Tensor<3>{next.tensor}, where);
}

}  // namespace burn::nn
