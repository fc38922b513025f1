#include "nn/rnn/gru.h"

#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/rnn/recurrence.h"

namespace burn::nn {

using client::Site;
using client::Value;

template <>
Gru GruConfig::init(const Device& device) const {
  detail::check_clip("GruConfig", clip);
  const GateControllerConfig gate{.d_input = d_input, .d_hidden = d_hidden, .bias = bias, .initializer = initializer};
  Gru layer{.update_gate = gate.init(device),
            .reset_gate = gate.init(device),
            .new_gate = gate.init(device),
            .reset_after = reset_after,
            .batch_first = batch_first,
            .reverse = reverse,
            .clip = clip,
            .gate_activation = gate_activation.init(device),
            .hidden_activation = hidden_activation.init(device)};
  detail::add_layers("GruConfig", *this, d_hidden, layer, device);
  return layer;
}

RecurrentValues Gru::apply_layer(const Value& x, const std::vector<Value>& state, const Site& site) const {
  const client::SiteScope scope{site};
  const detail::Gates gates{"Gru", {&update_gate, &reset_gate, &new_gate}, site, reset_after};
  // Without reset_after, the new gate's hidden product needs the result of the reset gate, so it is computed
  // separately.
  const std::optional<detail::Gates> first_two =
      reset_after ? std::nullopt : std::optional{detail::Gates{"Gru", {&update_gate, &reset_gate}, site}};
  const std::optional<detail::Gates> last =
      reset_after ? std::nullopt : std::optional{detail::Gates{"Gru", {&new_gate}, site}};
  detail::check_input("Gru", x, gates, site);
  detail::check_state("Gru", state, 1, site);
  const detail::ScanOrder order{batch_first, reverse};
  Value h = detail::state_or_zeros("Gru: the state", state.empty() ? nullptr : &state[0], x, gates, order, site);
  // Expanded to the shape of a state before the loop: its gradient is then accumulated within each step's kernel, and
  // summed over the batch once.
  std::optional<Value> last_bias;
  if (gates.last_bias)
    last_bias = client::expand(client::reshape(*gates.last_bias, {1, gates.width()}, site), h.shape(), site);
  const Value states = detail::scan_time(x, gates, order, site, [&](const Value& of_input) {
    const Value of_hidden = (first_two ? *first_two : gates).of_hidden(h, site), before = h;
    const auto open = [&](std::int64_t gate) {
      return gate_activation.apply(gates.gate(of_input, gate, site) + gates.gate(of_hidden, gate, site), site);
    };
    const Value z = open(0), r = open(1);
    Value of_new;
    if (last) {
      of_new = last->of_hidden(r * before, site);
    } else {
      const Value product = gates.gate(of_hidden, 2, site);
      of_new = r * (last_bias ? product + *last_bias : product);
    }
    const Value fresh = hidden_activation.apply(gates.gate(of_input, 2, site) + of_new, site);
    h = fresh * (1.0 - z) + z * before;
    if (clip) h = client::clamp(h, -*clip, *clip, site);
    return h;
  });
  return {states, {h}};
}

template <>
BiGru BiGruConfig::init(const Device& device) const {
  GruConfig one{.d_input = d_input,
                .d_hidden = d_hidden,
                .bias = bias,
                .reset_after = reset_after,
                .initializer = initializer,
                .batch_first = batch_first,
                .clip = clip,
                .gate_activation = gate_activation,
                .hidden_activation = hidden_activation};
  one.reverse = reverse;
  Gru first = one.init(device);
  one.reverse = !reverse;
  BiGru layer{.forward_layer = std::move(first), .reverse_layer = one.init(device)};
  detail::add_layers("BiGruConfig", *this, 2 * d_hidden, layer, device);
  return layer;
}

}  // namespace burn::nn
