#include "nn/transformer.h"

#include "client/ops/activation.h"
#include "nn/checks.h"

namespace burn::nn {

PositionWiseFeedForward PositionWiseFeedForwardConfig::init(const Device& device) const {
  detail::check_at_least("PositionWiseFeedForwardConfig", "d_model", d_model, 1);
  detail::check_at_least("PositionWiseFeedForwardConfig", "d_ff", d_ff, 1);
  if (activation != "gelu" && activation != "gelu_approximate" && activation != "relu" && activation != "silu") {
    detail::reject("PositionWiseFeedForwardConfig",
                   "no activation \"" + activation + "\": gelu, gelu_approximate, relu or silu");
  }
  return {.linear_inner = LinearConfig{.d_input = d_model, .d_output = d_ff, .initializer = initializer}.init(device),
          .linear_outer = LinearConfig{.d_input = d_ff, .d_output = d_model, .initializer = initializer}.init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .activation = activation};
}

client::Value PositionWiseFeedForward::run(const client::Value& x, Loc where) const {
  client::Value y = linear_inner.apply(x, at(where));
  if (activation == "relu")
    y = client::pointwise(ir::PointwiseFn::relu, y, at(where));
  else if (activation == "silu")
    y = client::silu(y, at(where));
  else
    y = activation == "gelu" ? client::gelu(y, at(where)) : client::gelu_approximate(y, at(where));
  if (dropout.is_dropping(y)) {
    const ir::Shape shape = y.shape();
    const Tensor<2> rows{client::reshape(y, {-1, shape.back()}, at(where))};
    y = client::reshape(dropout(rows, where).value(), shape, at(where));
  }
  return linear_outer.apply(y, at(where));
}

TransformerEncoderLayer TransformerEncoderConfig::init_layer(const Device& device) const {
  const LayerNormConfig norm{.d_model = d_model, .epsilon = layer_norm_eps};
  return {.mha = MultiHeadAttentionConfig{.d_model = d_model,
                                          .n_heads = n_heads,
                                          .dropout = dropout,
                                          .quiet_softmax = quiet_softmax,
                                          .initializer = initializer}
                     .init(device),
          .pwff = PositionWiseFeedForwardConfig{.d_model = d_model,
                                                .d_ff = d_ff,
                                                .dropout = dropout,
                                                .initializer = initializer,
                                                .activation = activation}
                      .init(device),
          .norm_1 = norm.init(device),
          .norm_2 = norm.init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .norm_first = norm_first};
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

TransformerEncoder TransformerEncoderConfig::init(const Device& device) const {
  detail::check_at_least("TransformerEncoderConfig", "n_layers", n_layers, 1);
  TransformerEncoder encoder;
  for (std::int64_t i = 0; i < n_layers; ++i) encoder.layers.push_back(init_layer(device));
  return encoder;
}

Tensor<3> TransformerEncoder::forward(const TransformerEncoderInput& input, Loc where) const {
  TransformerEncoderInput next = input;
  for (const auto& layer : layers) next.tensor = layer.forward(next, where);
  return next.tensor;
}

Tensor<3> TransformerEncoder::forward_autoregressive_inference(const TransformerEncoderInput& input,
                                                               TransformerEncoderAutoregressiveCache& cache,
                                                               Loc where) const {
  detail::check_layers("forward_autoregressive_inference", cache.layers.size(), layers.size(), where);
  auto next = fresh_part(input, cache.output.length(where), where);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    next.tensor = layers[i].forward_next(next, cache.layers[i].mha, where);
  }
  return cache.output.append(next.tensor, where);
}

}  // namespace burn::nn
