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

Tensor<3> TransformerEncoderLayer::forward(const TransformerEncoderInput& input, Loc where) const {
  const auto attend = [&](const Tensor<3>& x) {
    auto self = MhaInput::self_attn(x);
    self.mask_pad = input.mask_pad;
    self.mask_attn = input.mask_attn;
    self.is_causal = input.is_causal;
    return dropout(mha(self, where).context, where);
  };
  const Tensor<3>& x = input.tensor;
  if (norm_first) {
    const Tensor<3> attended = x.add(attend(norm_2(x, where)), where);
    return attended.add(dropout(pwff(norm_1(attended, where), where), where), where);
  }
  const Tensor<3> attended = norm_1(x.add(attend(x), where), where);
  return norm_2(attended.add(dropout(pwff(attended, where), where), where), where);
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

}  // namespace burn::nn
