// The gated recurrent unit (Cho et al., arXiv:1406.1078).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nn/activation/activation_module.h"
#include "nn/rnn/bidirectional.h"
#include "nn/rnn/gate_controller.h"
#include "nn/rnn/state.h"

namespace burn::nn {

// h = n (1 - z) + z h, where z and r are the sigmoids of the update and the reset gate. With reset_after, as in the
// paper's first version and PyTorch, n = tanh(x W + b + r (h U + c)); otherwise, as in its last version, n = tanh(x W +
// b + (r h) U + c).
struct Gru {
  template <int D>
  using State = Tensor<D>;

  GateController update_gate, reset_gate, new_gate;
  bool reset_after = true;
  bool batch_first = true;
  bool reverse = false;          // walks time backwards; results keep the time order of the input
  std::optional<double> clip{};  // hidden states are kept in [-clip, clip]
  Activation gate_activation = Sigmoid{};
  Activation hidden_activation = Tanh{};
  std::vector<Gru> above{};    // further layers; each takes the states of the one below
  Dropout dropout{.prob = 0};  // on the states, between layers
  BURN_MODULE(Gru, update_gate, reset_gate, new_gate, gate_activation, hidden_activation, above, dropout)

  // All hidden states. Shapes: [batch, time, d_input] (without batch_first [time, batch, d_input]), state
  // [batch, d_hidden], zeros if there is none -> [batch, time, d_hidden] in the same layout. Errors: other features; a
  // state of another shape.
  BURN_FORWARD(nullptr, (), Tensor<3>, (const Tensor<3>& x, const std::optional<Tensor<2>>& state = std::nullopt),
               (x.value(), detail::tensors_of(state)))
  // As forward(), and the last hidden state [batch, d_hidden].
  std::pair<Tensor<3>, Tensor<2>> forward_with_state(const Tensor<3>& x,
                                                     const std::optional<Tensor<2>>& state = std::nullopt,
                                                     Loc where = Loc::current()) const {
    return std::pair<Tensor<3>, Tensor<2>>(apply(x.value(), detail::tensors_of(state), at(where)));
  }
  // `state`: the tensors of the state; empty: zeros.
  RecurrentValues apply(const client::Value& x, const std::vector<client::Value>& state,
                        const client::Site& site) const {
    return detail::apply_layers(*this, x, state, site);
  }
  // The result of this layer without those above.
  RecurrentValues apply_layer(const client::Value& x, const std::vector<client::Value>& state,
                              const client::Site& site) const;
};

// The configuration of a Gru, or of a bidirectional one, where `reverse` applies to the first of the two layers.
template <typename Layer>
struct GruConfigOf {
  std::int64_t d_input = 0, d_hidden = 0;
  bool bias = true;
  bool reset_after = true;
  Initializer initializer = Initializer::xavier_normal();
  bool batch_first = true;
  bool reverse = false;
  std::optional<double> clip{};
  ActivationConfig gate_activation{.kind = "sigmoid"};
  ActivationConfig hidden_activation{.kind = "tanh"};
  // Number of stacked layers. Each takes the hidden states of the one below, to which dropout with probability
  // `dropout` is applied in training. The state of several layers has n_layers times the first dim, layer by layer:
  // [n_layers batch, d_hidden], bidirectional [2 n_layers, batch, d_hidden].
  std::int64_t n_layers = 1;
  double dropout = 0;
  BURN_CONFIG(GruConfigOf, d_input, d_hidden, bias, reset_after, initializer, batch_first, reverse, clip,
              gate_activation, hidden_activation, n_layers, dropout)

  Layer init(const Device& device) const;  // Errors: a size or n_layers below 1; a clip that is not positive.
};

using BiGru = Bidirectional<Gru>;
using GruConfig = GruConfigOf<Gru>;
using BiGruConfig = GruConfigOf<BiGru>;
template <>
Gru GruConfig::init(const Device& device) const;
template <>
BiGru BiGruConfig::init(const Device& device) const;

}  // namespace burn::nn
