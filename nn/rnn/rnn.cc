#include "nn/rnn/rnn.h"

#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/rnn/recurrence.h"

namespace burn::nn {

using client::Value;

template <>
Rnn RnnConfig::init(const Device& device) const {
  detail::check_clip("RnnConfig", clip);
  const GateControllerConfig gate{.d_input = d_input, .d_hidden = d_hidden, .bias = bias, .initializer = initializer};
  Rnn layer{.gate = gate.init(device),
            .batch_first = batch_first,
            .reverse = reverse,
            .clip = clip,
            .hidden_activation = hidden_activation.init(device)};
  detail::add_layers("RnnConfig", *this, d_hidden, layer, device);
  return layer;
}

RecurrentValues Rnn::apply_layer(const Value& x, const std::vector<Value>& state, const client::Site& site) const {
  const client::SiteScope scope{site};
  const detail::Gates gates{"Rnn", {&gate}, site};
  detail::check_input("Rnn", x, gates, site);
  detail::check_state("Rnn", state, 1, site);
  const detail::ScanOrder order{batch_first, reverse};
  Value h = detail::state_or_zeros("Rnn: the state", state.empty() ? nullptr : &state[0], x, gates, order, site);
  const Value states = detail::scan_time(x, gates, order, site, [&](const Value& of_input) {
    h = hidden_activation.apply(of_input + gates.of_hidden(h, site), site);
    if (clip) h = client::clamp(h, -*clip, *clip, site);
    return h;
  });
  return {states, {h}};
}

template <>
BiRnn BiRnnConfig::init(const Device& device) const {
  RnnConfig one{.d_input = d_input,
                .d_hidden = d_hidden,
                .bias = bias,
                .initializer = initializer,
                .batch_first = batch_first,
                .clip = clip,
                .hidden_activation = hidden_activation};
  one.reverse = reverse;
  Rnn first = one.init(device);
  one.reverse = !reverse;
  BiRnn layer{.forward_layer = std::move(first), .reverse_layer = one.init(device)};
  detail::add_layers("BiRnnConfig", *this, 2 * d_hidden, layer, device);
  return layer;
}

}  // namespace burn::nn
