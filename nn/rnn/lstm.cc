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
  // Gates with one activation side by side, the cell's last.
  const detail::Gates gates = input_forget
                                  ? detail::Gates{"Lstm", {&input_gate, &output_gate, &cell_gate}, site}
                                  : detail::Gates{"Lstm", {&input_gate, &output_gate, &forget_gate, &cell_gate}, site};
  const std::int64_t width = gates.hidden_weight.dim(0), sigmoids = input_forget ? 2 : 3;
  detail::check_input("Lstm", x, gates, site);
  detail::check_state("Lstm", state, 2, site);
  const detail::Walkway way{batch_first, reverse};
  const auto initial = [&](const char* what, std::size_t part) {
    return detail::state_or_zeros(what, state.empty() ? nullptr : &state[part], x, gates, way, site);
  };
  Value c = initial("Lstm: the cell state", 0);
  Value h = initial("Lstm: the hidden state", 1);
  const auto columns = [&](const Value& from, std::int64_t first, std::int64_t count) {
    return client::narrow(from, 1, first * width, count * width, site);
  };
  const Value states = detail::walk(x, gates, way, site, [&](const Value& of_input) {
    const Value sums = of_input + gates.of_hidden(h, site);
    const Value open = gate_activation.apply(columns(sums, 0, sigmoids), site);
    const Value g = cell_activation.apply(columns(sums, sigmoids, 1), site);
    const Value i = columns(open, 0, 1), o = columns(open, 1, 1), f = input_forget ? 1.0 - i : columns(open, 2, 1);
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
