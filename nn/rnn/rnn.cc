#include "nn/rnn/rnn.h"

#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/checks.h"
#include "nn/rnn/recurrence.h"

namespace burn::nn {

using client::Value;

void detail::check_clip(const char* config, const std::optional<double>& clip) {
  if (clip && !(*clip > 0)) detail::reject(config, "clip is " + std::to_string(*clip) + ", must be positive");
}

Rnn RnnConfig::init(const Device& device) const {
  detail::check_clip("RnnConfig", clip);
  const GateControllerConfig gate{.d_input = d_input, .d_hidden = d_hidden, .bias = bias, .initializer = initializer};
  return {.gate = gate.init(device),
          .batch_first = batch_first,
          .reverse = reverse,
          .clip = clip,
          .hidden_activation = hidden_activation.init(device)};
}

std::pair<Tensor<3>, RnnState<2>> Rnn::forward(const Tensor<3>& x, const std::optional<RnnState<2>>& state,
                                               Loc where) const {
  const auto site = at(where);
  const client::SiteScope scope{site};
  const detail::Gates gates{"Rnn", {&gate}, site};
  detail::check_input("Rnn", x.value(), gates, site);
  const detail::Walkway way{batch_first, reverse};
  Value h =
      detail::state_or_zeros("Rnn: the state", state ? &state->hidden.value() : nullptr, x.value(), gates, way, site);
  const Value states = detail::walk(x.value(), gates, way, site, [&](const Value& of_input) {
    h = hidden_activation.apply(of_input + gates.of_hidden(h, site), site);
    if (clip) h = client::clamp(h, -*clip, *clip, site);
    return h;
  });
  return {Tensor<3>{states}, {Tensor<2>{h}}};
}

BiRnn BiRnnConfig::init(const Device& device) const {
  RnnConfig one{.d_input = d_input,
                .d_hidden = d_hidden,
                .bias = bias,
                .initializer = initializer,
                .batch_first = batch_first,
                .clip = clip,
                .hidden_activation = hidden_activation};
  Rnn forward_layer = one.init(device);
  one.reverse = true;
  return {.forward_layer = std::move(forward_layer), .reverse_layer = one.init(device)};
}

std::pair<Tensor<3>, RnnState<3>> BiRnn::forward(const Tensor<3>& x, const std::optional<RnnState<3>>& state,
                                                 Loc where) const {
  const auto site = at(where);
  const auto part = [&](std::int64_t which) -> std::optional<RnnState<2>> {
    if (!state) return std::nullopt;
    return RnnState<2>{Tensor<2>{detail::direction(state->hidden.value(), which, site)}};
  };
  const auto [there, end] = forward_layer.forward(x, part(0), where);
  const auto [back, begin] = reverse_layer.forward(x, part(1), where);
  return {Tensor<3>{detail::beside(there.value(), back.value(), site)},
          {Tensor<3>{detail::stacked(end.hidden.value(), begin.hidden.value(), site)}}};
}

}  // namespace burn::nn
