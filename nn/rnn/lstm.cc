#include "nn/rnn/lstm.h"

#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/rnn/recurrence.h"

namespace burn::nn {

using client::Value;

template <>
Lstm LstmConfig::init(const Device& device) const {
  detail::check_clip("LstmConfig", clip);
  const GateControllerConfig gate{.d_input = d_input, .d_hidden = d_hidden, .bias = bias, .initializer = initializer};
  Lstm layer{.input_gate = gate.init(device),
             .forget_gate = gate.init(device),
             .output_gate = gate.init(device),
             .cell_gate = gate.init(device),
             .batch_first = batch_first,
             .reverse = reverse,
             .clip = clip,
             .input_forget = input_forget,
             .gate_activation = gate_activation.init(device),
             .cell_activation = cell_activation.init(device),
             .hidden_activation = hidden_activation.init(device)};
  detail::add_layers("LstmConfig", *this, d_hidden, layer, device);
  return layer;
}

RecurrentValues Lstm::apply_layer(const Value& x, const std::vector<Value>& state, const client::Site& site) const {
  const client::SiteScope scope{site};
  const detail::Gates gates = input_forget
                                  ? detail::Gates{"Lstm", {&input_gate, &output_gate, &cell_gate}, site}
                                  : detail::Gates{"Lstm", {&input_gate, &output_gate, &cell_gate, &forget_gate}, site};
  detail::check_input("Lstm", x, gates, site);
  detail::check_state("Lstm", state, 2, site);
  const detail::ScanOrder order{batch_first, reverse};
  const auto initial = [&](const char* what, std::size_t part) {
    return detail::state_or_zeros(what, state.empty() ? nullptr : &state[part], x, gates, order, site);
  };
  Value c = initial("Lstm: the cell state", 0);
  Value h = initial("Lstm: the hidden state", 1);
  const Value states = detail::scan_time(x, gates, order, site, [&](const Value& of_input) {
    const Value of_hidden = gates.of_hidden(h, site);
    const auto sum = [&](std::int64_t gate) {
      return gates.gate(of_input, gate, site) + gates.gate(of_hidden, gate, site);
    };
    const Value i = gate_activation.apply(sum(0), site), o = gate_activation.apply(sum(1), site);
    const Value g = cell_activation.apply(sum(2), site);
    const Value f = input_forget ? 1.0 - i : gate_activation.apply(sum(3), site);
    c = f * c + i * g;
    if (clip) c = client::clamp(c, -*clip, *clip, site);
    h = o * hidden_activation.apply(c, site);
    return h;
  });
  return {states, {c, h}};
}

template <>
BiLstm BiLstmConfig::init(const Device& device) const {
  LstmConfig one{.d_input = d_input,
                 .d_hidden = d_hidden,
                 .bias = bias,
                 .initializer = initializer,
                 .batch_first = batch_first,
                 .clip = clip,
                 .input_forget = input_forget,
                 .gate_activation = gate_activation,
                 .cell_activation = cell_activation,
                 .hidden_activation = hidden_activation};
  one.reverse = reverse;
  Lstm first = one.init(device);
  one.reverse = !reverse;
  BiLstm layer{.forward_layer = std::move(first), .reverse_layer = one.init(device)};
  detail::add_layers("BiLstmConfig", *this, 2 * d_hidden, layer, device);
  return layer;
}

}  // namespace burn::nn
