// Stacked recurrent layers. Private to nn/rnn/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nn/layer/dropout.h"
#include "nn/module/checks.h"
#include "nn/rnn/state.h"

namespace burn::nn::detail {

// Splits the state into those of `count` layers: equal parts of the first dim of its tensors. An empty state stays
// empty for each layer. Errors (thrown): a first dim that is not divisible by `count`.
std::vector<std::vector<client::Value>> states_of_layers(const std::vector<client::Value>& state, std::size_t count,
                                                         const client::Site& site);
// The inverse of states_of_layers().
std::vector<client::Value> joined_states(const std::vector<std::vector<client::Value>>& states,
                                         const client::Site& site);

// Applies bottom.apply_layer(), then each layer of bottom.above to the states of the one below, after bottom.dropout.
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

// Fills bottom.above with the layers of the configuration. `width`: the number of features that each layer passes to
// the next.
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
