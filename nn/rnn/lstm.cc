#include "nn/rnn/lstm.h"

#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/rnn/recurrence.h"

namespace burn::nn {

using client::Value;

Lstm LstmConfig::init(const Device& device) const {
  detail::check_clip("LstmConfig", clip);
  const GateControllerConfig gate{.d_input = d_input, .d_hidden = d_hidden, .bias = bias, .initializer = initializer};
  return {.input_gate = gate.init(device),
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
}

std::pair<Tensor<3>, LstmState<2>> Lstm::forward(const Tensor<3>& x, const std::optional<LstmState<2>>& state,
                                                 Loc where) const {
  const auto site = at(where);
  const client::SiteScope scope{site};
  // Gates with one activation side by side, the cell's last.
  const detail::Gates gates = input_forget
                                  ? detail::Gates{"Lstm", {&input_gate, &output_gate, &cell_gate}, site}
                                  : detail::Gates{"Lstm", {&input_gate, &output_gate, &forget_gate, &cell_gate}, site};
  const std::int64_t width = gates.hidden_weight.dim(0), sigmoids = input_forget ? 2 : 3;
  detail::check_input("Lstm", x.value(), gates, site);
  const detail::Walkway way{batch_first, reverse};
  const auto initial = [&](const char* what, Tensor<2> LstmState<2>::*part) {
    return detail::state_or_zeros(what, state ? &((*state).*part).value() : nullptr, x.value(), gates, way, site);
  };
  Value c = initial("Lstm: the cell state", &LstmState<2>::cell);
  Value h = initial("Lstm: the hidden state", &LstmState<2>::hidden);
  const auto columns = [&](const Value& from, std::int64_t first, std::int64_t count) {
    return client::narrow(from, 1, first * width, count * width, site);
  };
  const Value states = detail::walk(x.value(), gates, way, site, [&](const Value& of_input) {
    const Value sums = of_input + gates.of_hidden(h, site);
    const Value open = gate_activation.apply(columns(sums, 0, sigmoids), site);
    const Value g = cell_activation.apply(columns(sums, sigmoids, 1), site);
    const Value i = columns(open, 0, 1), o = columns(open, 1, 1), f = input_forget ? 1.0 - i : columns(open, 2, 1);
    c = f * c + i * g;
    if (clip) c = client::clamp(c, -*clip, *clip, site);
    h = o * hidden_activation.apply(c, site);
    return h;
  });
  return {Tensor<3>{states}, {Tensor<2>{c}, Tensor<2>{h}}};
}

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
  Lstm forward_layer = one.init(device);
  one.reverse = true;
  return {.forward_layer = std::move(forward_layer), .reverse_layer = one.init(device)};
}

std::pair<Tensor<3>, LstmState<3>> BiLstm::forward(const Tensor<3>& x, const std::optional<LstmState<3>>& state,
                                                   Loc where) const {
  const auto site = at(where);
  const auto part = [&](std::int64_t which) -> std::optional<LstmState<2>> {
    if (!state) return std::nullopt;
    return state->map_state(
        [&](const Tensor<3>& both) { return Tensor<2>{detail::direction(both.value(), which, site)}; });
  };
  const auto [there, end] = forward_layer.forward(x, part(0), where);
  const auto [back, begin] = reverse_layer.forward(x, part(1), where);
  return {Tensor<3>{detail::beside(there.value(), back.value(), site)},
          {Tensor<3>{detail::stacked(end.cell.value(), begin.cell.value(), site)},
           Tensor<3>{detail::stacked(end.hidden.value(), begin.hidden.value(), site)}}};
}

}  // namespace burn::nn
