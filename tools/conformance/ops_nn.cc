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
  t["batch_norm"] = t["nn_batch_norm_inference"] = batch_norm;
  t["nn_batch_norm_train"] = batch_norm_train;
  t["layer_norm"] = t["nn_layer_norm"] = layer_norm;
  t["nn_conv1d"] = conv<nn::Conv1d, 1>;
  t["nn_conv2d"] = conv<nn::Conv2d, 2>;
  t["loss_mse"] = mse;
  t["loss_cross_entropy"] = cross_entropy;
  t["loss_binary_cross_entropy"] = binary_cross_entropy;
}

}  // namespace burn::conformance
