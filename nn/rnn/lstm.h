// Long short-term memory (Hochreiter and Schmidhuber 1997).
#pragma once

#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "client/fail.h"
#include "nn/activation/activation_module.h"
#include "nn/rnn/bidirectional.h"
#include "nn/rnn/gate_controller.h"
#include "nn/rnn/state.h"

namespace burn::nn {

// c = f c + i tanh(g), h = o tanh(c), where i, f and o are the sigmoids of the input, forget and output gate, and g is
// the cell gate.
struct Lstm {
  template <int D>
  using State = LstmState<D>;

  GateController input_gate, forget_gate, output_gate, cell_gate;
  bool batch_first = true;
  bool reverse = false;          // walks time backwards; results keep the time order of the input
  std::optional<double> clip{};  // cell states are kept in [-clip, clip]
  bool input_forget = false;     // f = 1 - i; the forget gate is not used
  Activation gate_activation = Sigmoid{};
  Activation cell_activation = Tanh{};    // applied to g
  Activation hidden_activation = Tanh{};  // applied to c
  std::vector<Lstm> above{};              // further layers; each takes the states of the one below
  Dropout dropout{.prob = 0};             // on the states, between layers
  BURN_MODULE(Lstm, input_gate, forget_gate, output_gate, cell_gate, gate_activation, cell_activation,
              hidden_activation, above, dropout)

  // All hidden states, and the last state. Shapes: [batch, time, d_input] (without batch_first [time, batch, d_input]),
  // states [batch, d_hidden], zeros if there are none -> [batch, time, d_hidden] in the same layout, states
  // [batch, d_hidden]. Errors: other features; a state of another shape.
  BURN_FORWARD(nullptr, (), BURN_LIST(std::pair<Tensor<3>, LstmState<2>>),
               (const Tensor<3>& x, const std::optional<LstmState<2>>& state = std::nullopt),
               (x.value(), detail::tensors_of(state)))
  // `state`: the tensors of the state; empty: zeros.
  RecurrentValues apply(const client::Value& x, const std::vector<client::Value>& state,
                        const client::Site& site) const {
    return detail::apply_layers(*this, x, state, site);
  }
  // The result of this layer without those above.
  RecurrentValues apply_layer(const client::Value& x, const std::vector<client::Value>& state,
                              const client::Site& site) const;
  // The same for a range of time steps in order, each [batch, d_input]. Reads the whole range before it computes.
  // Errors: an empty range.
  template <std::ranges::input_range Steps>
  std::pair<Tensor<3>, LstmState<2>> forward_iter(Steps&& steps,
                                                  const std::optional<LstmState<2>>& state = std::nullopt,
                                                  Loc where = Loc::current()) const {
    std::vector<Tensor<2>> all;
    for (const Tensor<2>& step : steps) all.push_back(step);
    if (all.empty()) client::fail("forward_iter: no step", at(where, "forward_iter"));
    return forward(Tensor<2>::stack(all, batch_first ? 1 : 0, where), state, where);
  }
};

// The configuration of an Lstm, or of a bidirectional one, where `reverse` applies to the first of the two layers.
template <typename Layer>
struct LstmConfigOf {
  std::int64_t d_input = 0, d_hidden = 0;
  bool bias = true;
  Initializer initializer = Initializer::xavier_normal();
  bool batch_first = true;
  bool reverse = false;
  std::optional<double> clip{};
  bool input_forget = false;
  ActivationConfig gate_activation{.kind = "sigmoid"};
  ActivationConfig cell_activation{.kind = "tanh"};
  ActivationConfig hidden_activation{.kind = "tanh"};
  // Number of stacked layers. Each takes the hidden states of the one below, to which dropout with probability
  // `dropout` is applied in training. The state of several layers has n_layers times the first dim, layer by layer:
  // [n_layers batch, d_hidden], bidirectional [2 n_layers, batch, d_hidden].
  std::int64_t n_layers = 1;
  double dropout = 0;
  BURN_CONFIG(LstmConfigOf, d_input, d_hidden, bias, initializer, batch_first, reverse, clip, input_forget,
              gate_activation, cell_activation, hidden_activation, n_layers, dropout)

  Layer init(const Device& device) const;  // Errors: a size or n_layers below 1; a clip that is not positive.
};

using BiLstm = Bidirectional<Lstm>;
using LstmConfig = LstmConfigOf<Lstm>;
using BiLstmConfig = LstmConfigOf<BiLstm>;
template <>
Lstm LstmConfig::init(const Device& device) const;
template <>
BiLstm BiLstmConfig::init(const Device& device) const;

}  // namespace burn::nn
