// Layers and losses of nn/, their weights given as inputs.
#include "nn/nn.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

// A parameter that is this very value: gradients reach the case's input.
template <int D>
Param<D> param(const Value& value) {
  Param<D> result;
  result.slot().value = value;
  return result;
}
template <int D>
std::optional<Param<D>> param(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional{param<D>(*value)};
}
RunningState<1> state(const Value& value) { return Tensor<1>{value}; }
std::optional<RunningState<1>> state(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional{state(*value)};
}

const Value& as_value(const Value& x) { return x; }
template <int D>
const Value& as_value(const Tensor<D>& x) {
  return x.value();
}

// Calls `body` with the value as a Tensor of its rank.
template <typename Body>
Value with_rank(const Value& x, Body&& body) {
  switch (x.rank()) {
    case 1:
      return as_value(body(Tensor<1>{x}));
    case 2:
      return as_value(body(Tensor<2>{x}));
    case 3:
      return as_value(body(Tensor<3>{x}));
    case 4:
      return as_value(body(Tensor<4>{x}));
    default:
      return as_value(body(Tensor<5>{x}));
  }
}

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

// The formula alone: a layer whose parameters are tracked would be training.
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

nn::Linear linear(const Call& c, std::size_t weight) {
  return {.weight = param<2>(c.x(weight)), .bias = param<1>(c.optional(weight + 1))};
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
  const nn::TransformerEncoderLayer layer{.mha = multi_head_attention(c, 3),
                                          .pwff = {.linear_inner = linear(c, 11),
                                                   .linear_outer = linear(c, 13),
                                                   .dropout = {.prob = 0},
                                                   .activation = c.text("activation")},
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

std::vector<Value> mse(const Call& c) {
  const auto kind = c.text("reduction");
  return {with_rank(c.x(), [&](const auto& x) {
    using T = std::decay_t<decltype(x)>;
    const T targets{c.x(1)};
    const auto reduction = kind == "sum" ? nn::Reduction::sum : nn::Reduction::mean;
    return kind == "none" ? nn::MseLoss{}.forward_no_reduction(x, targets).value()
                          : nn::MseLoss{}(x, targets, reduction).value();
  })};
}

std::optional<double> smoothing(const Call& c) {
  return c.has("smoothing") ? std::optional{c.number("smoothing")} : std::nullopt;
}

std::vector<Value> cross_entropy(const Call& c) {
  nn::CrossEntropyLoss loss{.weights = state(c.optional(2)), .smoothing = smoothing(c), .logits = c.flag("logits")};
  if (c.has("pad_tokens")) loss.pad_tokens = c.integers("pad_tokens");
  return {loss(Tensor<2>{c.x(0)}, Tensor<1, Int>{c.x(1)}).value()};
}

std::vector<Value> binary_cross_entropy(const Call& c) {
  const nn::BinaryCrossEntropyLoss loss{
      .weights = state(c.optional(2)), .smoothing = smoothing(c), .logits = c.flag("logits")};
  return {
      with_rank(c.x(), [&](const auto& x) { return loss(x, Tensor<std::decay_t<decltype(x)>::kRank, Int>{c.x(1)}); })};
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
  t["loss_mse"] = mse;
  t["loss_cross_entropy"] = cross_entropy;
  t["loss_binary_cross_entropy"] = binary_cross_entropy;
}

}  // namespace burn::conformance
