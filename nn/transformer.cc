#include "nn/transformer.h"

#include "nn/checks.h"

namespace burn::nn {

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

// What is new of a whole sequence, with its rows of the mask. mask_pad is of all keys.
TransformerEncoderInput fresh_part(const TransformerEncoderInput& input, std::int64_t seen, Loc where) {
  if (seen == 0) return input;
  TransformerEncoderInput fresh = input;
  const auto count = input.tensor.dim(1, where) - seen;
  fresh.tensor = input.tensor.narrow(1, seen, count, where);
  if (input.mask_attn) fresh.mask_attn = input.mask_attn->narrow(1, seen, count, where);
  return fresh;
}

}  // namespace

Tensor<3> TransformerEncoderLayer::run(const TransformerEncoderInput& input, MhaCache* cache, Loc where) const {
  const auto attend = [&](const Tensor<3>& x) {
    auto self = MhaInput::self_attn(x);
    self.mask_pad = input.mask_pad;
    self.mask_attn = input.mask_attn;
    self.is_causal = input.is_causal;
    return dropout((cache != nullptr ? mha.forward_next(self, *cache, where) : mha(self, where)).context, where);
  };
  const Tensor<3>& x = input.tensor;
  if (norm_first) {
    const Tensor<3> attended = x.add(attend(norm_2(x, where)), where);
    return attended.add(dropout(pwff(norm_1(attended, where), where), where), where);
  }
  const Tensor<3> attended = norm_1(x.add(attend(x), where), where);
  return norm_2(attended.add(dropout(pwff(attended, where), where), where), where);
}

Tensor<3> TransformerEncoderLayer::forward(const TransformerEncoderInput& input, Loc where) const {
  return run(input, nullptr, where);
}

Tensor<3> TransformerEncoderLayer::forward_next(const TransformerEncoderInput& fresh, MhaCache& cache,
                                                Loc where) const {
  return run(fresh, &cache, where);
}

Tensor<3> TransformerEncoderLayer::forward_autoregressive_inference(const TransformerEncoderInput& input,
                                                                    TransformerEncoderLayerAutoregressiveCache& cache,
                                                                    Loc where) const {
  const auto fresh = fresh_part(input, cache.output.length(where), where);
  return cache.output.append(forward_next(fresh, cache.mha, where), where);
}

Tensor<3> TransformerEncoder::forward(const TransformerEncoderInput& input, Loc where) const {
  const auto step = [&](std::size_t i, const TransformerEncoderInput& next) { return layers[i].forward(next, where); };
  return detail::through_layers(layers.size(), input, &TransformerEncoderInput::tensor, step);
}

Tensor<3> TransformerEncoder::forward_autoregressive_inference(const TransformerEncoderInput& input,
                                                               TransformerEncoderAutoregressiveCache& cache,
                                                               Loc where) const {
  detail::check_layers("forward_autoregressive_inference", cache.layers.size(), layers.size(), where);
  const auto step = [&](std::size_t i, const TransformerEncoderInput& next) {
    return layers[i].forward_next(next, cache.layers[i].mha, where);
  };
  const auto fresh = fresh_part(input, cache.output.length(where), where);
  return cache.output.append(detail::through_layers(layers.size(), fresh, &TransformerEncoderInput::tensor, step),
                             where);
}

}  // namespace burn::nn
