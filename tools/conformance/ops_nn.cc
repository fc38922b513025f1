// Layers of nn/, their weights given as inputs.
#include "tools/conformance/layers.h"

namespace burn::conformance {
namespace {

std::vector<Value> batch_norm_train(const Call& c) {
  const nn::BatchNorm layer{.gamma = param<1>(c.x(1)),
                            .beta = param<1>(c.x(2)),
                            .running_mean = state(c.x(3)),
                            .running_var = state(c.x(4)),
                            .momentum = c.number("momentum"),
                            .epsilon = c.number("epsilon")};
  const Value y = with_rank(c.x(), [&](const auto& x) {
    if constexpr (std::decay_t<decltype(x)>::kRank >= 2)
      return layer(x);
    else
      return x;
  });
  return {y, layer.running_mean.val().value(), layer.running_var.val().value()};
}

// Only the formula: a layer with tracked parameters would be in training mode.
std::vector<Value> batch_norm(const Call& c) {
  return {nn::detail::batch_norm(c.x(0), c.x(1), c.x(2), c.x(3), c.x(4), c.number("epsilon"), kSite)};
}

std::vector<Value> layer_norm(const Call& c) {
  const nn::LayerNorm layer{.gamma = param<1>(c.x(1)), .beta = param<1>(c.optional(2)), .epsilon = c.number("epsilon")};
  return {with_rank(c.x(), [&](const auto& x) { return layer(x); })};
}

template <int N>
nn::PaddingConfig<N> padding(const Call& c) {
  nn::PaddingConfig<N> result;
  if (c.is_text("padding")) {
    result.kind = c.text("padding");
    return result;
  }
  result.kind = "explicit";
  const auto pairs = c.ranges("padding");
  for (std::size_t i = 0; i < N; ++i) {
    result.begin[i] = pairs[i].start;
    result.end[i] = pairs[i].end.value();
  }
  return result;
}

template <typename Layer, int N>
std::vector<Value> conv(const Call& c) {
  Layer layer{.weight = param<N + 2>(c.x(1)),
              .bias = param<1>(c.optional(2)),
              .groups = c.integer("groups"),
              .padding = padding<N>(c)};
  const auto stride = c.integers("stride"), dilation = c.integers("dilation");
  std::copy_n(stride.begin(), N, layer.stride.begin());
  std::copy_n(dilation.begin(), N, layer.dilation.begin());
  return {layer(Tensor<N + 2>{c.x()}).value()};
}

nn::MultiHeadAttention multi_head_attention(const Call& c, std::size_t weights) {
  return {.query = linear(c, weights),
          .key = linear(c, weights + 2),
          .value = linear(c, weights + 4),
          .output = linear(c, weights + 6),
          .dropout = {.prob = 0},
          .d_model = c.x(0).dim(-1),
          .n_heads = c.integer("n_heads"),
          .min_float = c.has("min_float") ? c.number("min_float") : -1e4,
          .quiet_softmax = c.has("quiet_softmax") && c.flag("quiet_softmax")};
}

template <int D>
std::optional<Tensor<D, Bool>> mask(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional{Tensor<D, Bool>{*value}};
}

std::vector<Value> attention(const Call& c) {
  const auto output = multi_head_attention(c, 5)({.query = Tensor<3>{c.x(0)},
                                                  .key = Tensor<3>{c.x(1)},
                                                  .value = Tensor<3>{c.x(2)},
                                                  .mask_pad = mask<2>(c.optional(3)),
                                                  .mask_attn = mask<3>(c.optional(4))});
  return {output.weights.value(), output.context.value()};
}

nn::LayerNorm norm(const Call& c, std::size_t gamma) {
  return {
      .gamma = param<1>(c.x(gamma)), .beta = param<1>(c.optional(gamma + 1)), .epsilon = c.number("layer_norm_eps")};
}

std::vector<Value> encoder_layer(const Call& c) {
  const nn::TransformerEncoderLayer layer{
      .mha = multi_head_attention(c, 3),
      .pwff = {.linear_inner = linear(c, 11),
               .linear_outer = linear(c, 13),
               .dropout = {.prob = 0},
               .activation = nn::ActivationConfig{.kind = c.text("activation")}.init(c.device)},
      .norm_1 = norm(c, 15),
      .norm_2 = norm(c, 17),
      .dropout = {.prob = 0},
      .norm_first = c.flag("norm_first")};
  return {
      layer
          .forward(
              {.tensor = Tensor<3>{c.x(0)}, .mask_pad = mask<2>(c.optional(1)), .mask_attn = mask<3>(c.optional(2))})
          .value()};
}

}  // namespace

void add_nn(OpTable& t) {
  t["nn_group_norm"] = [](const Call& c) {
    return std::vector{nn::detail::group_norm(c.x(0), c.integer("num_groups"), c.optional(1), c.optional(2),
                                              c.number("epsilon"), kSite)};
  };
  t["nn_instance_norm"] = [](const Call& c) {
    return std::vector{
        nn::detail::group_norm(c.x(0), c.x(0).dim(1), c.optional(1), c.optional(2), c.number("epsilon"), kSite)};
  };
  t["nn_rms_norm"] = [](const Call& c) {
    const nn::RmsNorm layer{.gamma = param<1>(c.x(1)), .epsilon = c.number("epsilon")};
    return std::vector<Value>{with_rank(c.x(), [&](const auto& x) { return layer(x); })};
  };
  t["nn_batch_norm_inference"] = batch_norm;
  t["nn_batch_norm_train"] = batch_norm_train;
  t["nn_layer_norm"] = layer_norm;
  t["nn_conv1d"] = conv<nn::Conv1d, 1>;
  t["nn_conv2d"] = conv<nn::Conv2d, 2>;
  t["nn_multi_head_attention"] = attention;
  t["nn_transformer_encoder_layer"] = encoder_layer;
}

}  // namespace burn::conformance
