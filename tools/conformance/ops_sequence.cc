// Layers for sequences, distances and gated activations, their weights given as inputs.
#include "tools/conformance/layers.h"

namespace burn::conformance {
namespace {

// The gate whose four weights start at input `first`.
nn::GateController gate(const Call& c, std::size_t first) {
  return {.input_transform = linear(c, first), .hidden_transform = linear(c, first + 2)};
}

std::vector<Value> lstm(const Call& c) {
  const nn::Lstm layer{.input_gate = gate(c, 3),
                       .forget_gate = gate(c, 7),
                       .output_gate = gate(c, 11),
                       .cell_gate = gate(c, 15),
                       .batch_first = c.flag("batch_first"),
                       .reverse = c.flag("reverse")};
  std::optional<nn::LstmState<2>> initial;
  if (c.optional(1) != nullptr) initial = {Tensor<2>{c.x(1)}, Tensor<2>{c.x(2)}};
  const auto [hidden, last] = layer.forward(Tensor<3>{c.x(0)}, initial);
  return {hidden.value(), last.cell.value(), last.hidden.value()};
}

std::vector<Value> gru(const Call& c) {
  const nn::Gru layer{.update_gate = gate(c, 2),
                      .reset_gate = gate(c, 6),
                      .new_gate = gate(c, 10),
                      .reset_after = c.flag("reset_after")};
  std::optional<Tensor<2>> initial;
  if (c.optional(1) != nullptr) initial = Tensor<2>{c.x(1)};
  return {layer.forward(Tensor<3>{c.x(0)}, initial).value()};
}

std::vector<Value> rnn(const Call& c) {
  const nn::Rnn layer{.gate = gate(c, 2), .batch_first = c.flag("batch_first"), .reverse = c.flag("reverse")};
  std::optional<nn::RnnState<2>> initial;
  if (c.optional(1) != nullptr) initial = nn::RnnState<2>{Tensor<2>{c.x(1)}};
  const auto [hidden, last] = layer.forward(Tensor<3>{c.x(0)}, initial);
  return {hidden.value(), last.hidden.value()};
}

// with_rank() for layers that do not accept rank 1.
template <typename Body>
Value with_rows(const Value& x, Body&& body) {
  return with_rank(x, [&](const auto& typed) {
    if constexpr (std::decay_t<decltype(typed)>::kRank >= 2)
      return body(typed);
    else
      return typed;
  });
}

std::vector<Value> rotary_encoding(const Call& c) {
  const auto layer = nn::RotaryEncodingConfig{.max_sequence_length = c.integer("max_sequence_length"),
                                              .d_model = c.integer("d_model"),
                                              .theta = c.number("theta")}
                         .init(c.device);
  return {with_rows(c.x(), [&](const auto& x) { return layer.apply(x, c.integer("start")); })};
}

std::vector<Value> positional_encoding(const Call& c) {
  const auto layer = nn::PositionalEncodingConfig{.d_model = c.integer("d_model"),
                                                  .max_sequence_size = c.integer("max_sequence_size"),
                                                  .max_timescale = c.integer("max_timescale")}
                         .init(c.device);
  return {layer(Tensor<3>{c.x()}).value()};
}

}  // namespace

void add_sequence(OpTable& t) {
  t["nn_lstm"] = lstm;
  t["nn_gru"] = gru;
  t["nn_rnn"] = rnn;
  t["nn_rotary_encoding"] = rotary_encoding;
  t["nn_positional_encoding"] = positional_encoding;
  t["nn_pairwise_distance"] = [](const Call& c) {
    const nn::PairwiseDistance layer{.p = c.number("p"), .eps = c.number("eps")};
    return std::vector{layer(Tensor<2>{c.x(0)}, Tensor<2>{c.x(1)}).value()};
  };
  t["nn_swiglu"] = [](const Call& c) {
    const nn::SwiGlu layer{.linear_inner = linear(c, 1), .linear_outer = linear(c, 3)};
    return std::vector{with_rank(c.x(0), [&](const auto& x) { return layer(x); })};
  };
}

}  // namespace burn::conformance
