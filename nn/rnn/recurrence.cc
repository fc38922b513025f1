#include "nn/rnn/recurrence.h"

#include <algorithm>
#include <array>
#include <vector>

#include "client/autocast.h"
#include "client/fail.h"
#include "nn/module/checks.h"

namespace burn::nn::detail {

using client::Site;
using client::Value;

namespace {

Value side_by_side(std::vector<Value> parts, std::int64_t axis, const Site& site) {
  return parts.size() == 1 ? parts[0] : client::concat(parts, axis, site);
}

Value weights_of(const char* layer, std::initializer_list<const GateController*> gates,
                 Linear GateController::*transform, const Site& site) {
  std::vector<Value> parts;
  for (const auto* gate : gates) {
    parts.push_back(held((gate->*transform).weight, (std::string{layer} + ": weight").c_str(), site));
  }
  return side_by_side(std::move(parts), 1, site);
}

std::optional<Value> biases_of(std::initializer_list<const GateController*> gates, Linear GateController::*transform,
                               const Site& site) {
  const auto has_bias = [&](const GateController* gate) { return (gate->*transform).bias.has_value(); };
  if (std::ranges::none_of(gates, has_bias)) return std::nullopt;
  std::vector<Value> parts;
  for (const auto* gate : gates) {
    const auto& linear = gate->*transform;
    const Value& weight = linear.weight.slot().value;
    parts.push_back(linear.bias ? held(*linear.bias, "bias", site)
                                : client::filled(client::place_of(weight), {weight.dim(1)}, 0, weight.dtype(), site));
  }
  return side_by_side(std::move(parts), 0, site);
}

}  // namespace

Gates::Gates(const char* layer, std::initializer_list<const GateController*> gates, const Site& site, bool keeps_last)
    : input_weight(weights_of(layer, gates, &GateController::input_transform, site)),
      hidden_weight(weights_of(layer, gates, &GateController::hidden_transform, site)),
      bias(biases_of(gates, &GateController::input_transform, site)) {
  // Cast once, not in each step: the weight's gradient is then one product (autodiff/shared_factors.h).
  if (const auto low = client::product_dtype({&hidden_weight})) hidden_weight = client::cast(hidden_weight, *low, site);
  auto of_hidden = biases_of(gates, &GateController::hidden_transform, site);
  if (!of_hidden) return;
  if (keeps_last) {
    const auto before = hidden_weight.dim(1) - width();
    last_bias = client::narrow(*of_hidden, 0, before, width(), site);
    if (before == 0) return;
    const Value none = client::filled(client::place_of(*of_hidden), {width()}, 0, of_hidden->dtype(), site);
    of_hidden = client::concat(std::array{client::narrow(*of_hidden, 0, 0, before, site), none}, 0, site);
  }
  bias = bias ? client::pointwise(ir::PointwiseFn::add, *bias, *of_hidden, site) : *of_hidden;
}

Value Gates::of_inputs(const Value& x, const Site& site) const {
  return client::linear(x, input_weight, bias ? &*bias : nullptr, site);
}
Value Gates::of_hidden(const Value& h, const Site& site) const {
  return client::linear(h, hidden_weight, nullptr, site);
}

void check_input(const char* layer, const Value& x, const Gates& gates, const Site& site) {
  check_rank(layer, x, 3, site);
  if (x.dim(2) == gates.input_weight.dim(0)) return;
  client::fail(std::string{layer} + ": the layer takes " + std::to_string(gates.input_weight.dim(0)) +
                   " features, the input is " + ir::to_string(x.type()),
               site);
}

void check_state(const char* layer, const std::vector<Value>& state, std::size_t count, const Site& site) {
  if (state.empty() || state.size() == count) return;
  client::fail(std::string{layer} + ": a state of " + std::to_string(state.size()) + " tensors, must be of " +
                   std::to_string(count),
               site);
}

Value state_or_zeros(const char* what, const Value* state, const Value& x, const Gates& gates, const ScanOrder& order,
                     const Site& site) {
  const ir::Shape shape{x.dim(order.batch_first ? 0 : 1), gates.hidden_weight.dim(0)};
  if (state == nullptr) return client::filled(client::place_of(x), shape, 0, x.dtype(), site);
  client::fail_if_empty(*state, what, site);
  if (state->shape() != shape) {
    client::fail(std::string{what} + " is " + ir::to_string(state->type()) + ", must be " +
                     ir::to_string(ir::TensorType{x.dtype(), shape}),
                 site);
  }
  return *state;
}

Value scan_time(const Value& x, const Gates& gates, const ScanOrder& order, const Site& site,
                const std::function<Value(const Value&)>& step) {
  const Value products = gates.of_inputs(x, site);  // [.., .., n d_hidden]
  const int time_dim = order.batch_first ? 1 : 0;
  const auto time = products.dim(time_dim), batch = products.dim(1 - time_dim), width = gates.width();
  std::vector<Value> states(static_cast<std::size_t>(time));
  for (std::int64_t i = 0; i < time; ++i) {
    const auto t = order.reverse ? time - 1 - i : i;
    const Value now = client::reshape(client::narrow(products, time_dim, t, 1, site), {batch, products.dim(2)}, site);
    states[static_cast<std::size_t>(t)] = step(now);
  }
  if (states.empty()) {
    const ir::Shape none = order.batch_first ? ir::Shape{batch, 0, width} : ir::Shape{0, batch, width};
    return client::filled(client::place_of(x), none, 0, x.dtype(), site);
  }
  return client::stack(states, order.batch_first ? 1 : 0, site);
}

void check_clip(const char* config, const std::optional<double>& clip) {
  if (clip && !(*clip > 0)) reject(config, "clip is " + std::to_string(*clip) + ", must be positive");
}

}  // namespace burn::nn::detail
