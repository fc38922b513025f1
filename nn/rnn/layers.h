// Recurrent layers on top of each other. Private to nn/rnn/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nn/layer/dropout.h"
#include "nn/module/checks.h"
#include "nn/rnn/state.h"

namespace burn::nn::detail {

// The state of each of `count` layers: equal parts of the first dim of its tensors; of none, none. Errors (thrown): a
// first dim that does not divide by `count`.
std::vector<std::vector<client::Value>> states_of_layers(const std::vector<client::Value>& state, std::size_t count,
                                                         const client::Site& site);
// The same put together again.
std::vector<client::Value> joined_states(const std::vector<std::vector<client::Value>>& states,
                                         const client::Site& site);

// bottom.apply_layer(), then that of each layer of bottom.above, on the states of the one below, which bottom.dropout
// thins out before.
template <typename Layer>
RecurrentValues apply_layers(const Layer& bottom, const client::Value& x, const std::vector<client::Value>& state,
                             const client::Site& site) {
  if (bottom.above.empty()) return bottom.apply_layer(x, state, site);
  const auto states = states_of_layers(state, 1 + bottom.above.size(), site);
  RecurrentValues result = bottom.apply_layer(x, states[0], site);
  std::vector<std::vector<client::Value>> last{result.last};
  for (std::size_t i = 0; i < bottom.above.size(); ++i) {
    result = bottom.above[i].apply_layer(bottom.dropout.apply(result.states, site), states[i + 1], site);
    last.push_back(result.last);
  }
  result.last = joined_states(last, site);
  return result;
}

// Gives `bottom` the layers that its configuration asks for. `width`: of what each layer gives to the next.
template <typename Config, typename Layer>
void add_layers(const char* name, const Config& config, std::int64_t width, Layer& bottom, const Device& device) {
  check_at_least(name, "n_layers", config.n_layers, 1);
  bottom.dropout = DropoutConfig{.prob = config.dropout}.init();
  Config one = config;
  one.n_layers = 1;
  one.d_input = width;
  for (std::int64_t i = 1; i < config.n_layers; ++i) bottom.above.push_back(one.init(device));
}

}  // namespace burn::nn::detail
