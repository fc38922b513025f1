// The plain recurrent layer (Elman 1990).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nn/activation/activation_module.h"
#include "nn/rnn/bidirectional.h"
#include "nn/rnn/gate_controller.h"
#include "nn/rnn/state.h"

namespace burn::nn {

// h = tanh(x W + b + h U + c), step by step.
struct Rnn {
  template <int D>
  using State = RnnState<D>;

  GateController gate;
  bool batch_first = true;
  bool reverse = false;          // walks time backwards; results keep the time order of the input
  std::optional<double> clip{};  // hidden states are kept in [-clip, clip]
  Activation hidden_activation = Tanh{};
  std::vector<Rnn> above{};    // further layers; each takes the states of the one below
  Dropout dropout{.prob = 0};  // on the states, between layers
  BURN_MODULE(Rnn, gate, hidden_activation, above, dropout)

  // All hidden states, and the last. Shapes: [batch, time, d_input] (without batch_first [time, batch, d_input]), state
  // [batch, d_hidden], zeros if there is none -> [batch, time, d_hidden] in the same layout, [batch, d_hidden]. Errors:
  // other features; a state of another shape.
  BURN_FORWARD(nullptr, (), BURN_LIST(std::pair<Tensor<3>, RnnState<2>>),
               (const Tensor<3>& x, const std::optional<RnnState<2>>& state = std::nullopt),
               (x.value(), detail::tensors_of(state)))
  // `state`: the tensors of the state; empty: zeros.
  RecurrentValues apply(const client::Value& x, const std::vector<client::Value>& state,
                        const client::Site& site) const {
    return detail::apply_layers(*this, x, state, site);
  }
  // The result of this layer without those above.
  RecurrentValues apply_layer(const client::Value& x, const std::vector<client::Value>& state,
                              const client::Site& site) const;
};

// The configuration of an Rnn, or of a bidirectional one, where `reverse` applies to the first of the two layers.
template <typename Layer>
struct RnnConfigOf {
  std::int64_t d_input = 0, d_hidden = 0;
  bool bias = true;
  Initializer initializer = Initializer::xavier_normal();
  bool batch_first = true;
  bool reverse = false;
  std::optional<double> clip{};
  ActivationConfig hidden_activation{.kind = "tanh"};
  // Number of stacked layers. Each takes the hidden states of the one below, to which dropout with probability
  // `dropout` is applied in training. The state of several layers has n_layers times the first dim, layer by layer:
  // [n_layers batch, d_hidden], bidirectional [2 n_layers, batch, d_hidden].
  std::int64_t n_layers = 1;
  double dropout = 0;
  BURN_CONFIG(RnnConfigOf, d_input, d_hidden, bias, initializer, batch_first, reverse, clip, hidden_activation,
              n_layers, dropout)

  Layer init(const Device& device) const;  // Errors: a size or n_layers below 1; a clip that is not positive.
};

using BiRnn = Bidirectional<Rnn>;
using RnnConfig = RnnConfigOf<Rnn>;
using BiRnnConfig = RnnConfigOf<BiRnn>;
template <>
Rnn RnnConfig::init(const Device& device) const;
template <>
BiRnn BiRnnConfig::init(const Device& device) const;

}  // namespace burn::nn
