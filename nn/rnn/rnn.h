// The plain recurrent layer (Elman 1990).
#pragma once

#include <optional>
#include <utility>

#include "nn/activation_module.h"
#include "nn/rnn/gate_controller.h"
#include "nn/rnn/state.h"

namespace burn::nn {

// h = tanh(x W + b + h U + c), step by step.
struct Rnn {
  GateController gate;
  bool batch_first = true;
  bool reverse = false;          // walks time backwards; the result of a step stays at its place
  std::optional<double> clip{};  // hidden states are kept in [-clip, clip]
  Activation hidden_activation = Tanh{};
  BURN_MODULE(Rnn, gate, hidden_activation)

  // All hidden states, and the last. Shapes: [batch, time, d_input] (without batch_first [time, batch, d_input]), state
  // [batch, d_hidden], zeros if there is none -> [batch, time, d_hidden] in the same layout, [batch, d_hidden]. Errors:
  // other features; a state of another shape.
  std::pair<Tensor<3>, RnnState<2>> forward(const Tensor<3>& x, const std::optional<RnnState<2>>& state = std::nullopt,
                                            Loc where = Loc::current()) const;
};

struct RnnConfig {
  std::int64_t d_input = 0, d_hidden = 0;
  bool bias = true;
  Initializer initializer = Initializer::xavier_normal();
  bool batch_first = true;
  bool reverse = false;
  std::optional<double> clip{};
  ActivationConfig hidden_activation{.kind = "tanh"};
  BURN_CONFIG(RnnConfig, d_input, d_hidden, bias, initializer, batch_first, reverse, clip, hidden_activation)

  Rnn init(const Device& device) const;  // Errors: a size below 1; a clip that is not positive.
};

// One layer in each direction, their results side by side.
struct BiRnn {
  Rnn forward_layer, reverse_layer;
  BURN_MODULE(BiRnn, forward_layer, reverse_layer)

  // As Rnn::forward, with [.., .., 2 d_hidden] and states [2, batch, d_hidden], forward first.
  std::pair<Tensor<3>, RnnState<3>> forward(const Tensor<3>& x, const std::optional<RnnState<3>>& state = std::nullopt,
                                            Loc where = Loc::current()) const;
};

struct BiRnnConfig {
  std::int64_t d_input = 0, d_hidden = 0;
  bool bias = true;
  Initializer initializer = Initializer::xavier_normal();
  bool batch_first = true;
  std::optional<double> clip{};
  ActivationConfig hidden_activation{.kind = "tanh"};
  BURN_CONFIG(BiRnnConfig, d_input, d_hidden, bias, initializer, batch_first, clip, hidden_activation)

  BiRnn init(const Device& device) const;
};

}  // namespace burn::nn
