#include "nn/rnn/bidirectional.h"

#include <string>

#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::nn::detail {

using client::Site;
using client::Value;

std::vector<Value> direction(const std::vector<Value>& state, std::int64_t which, const Site& site) {
  std::vector<Value> parts;
  for (const Value& both : state) {
    client::fail_if_empty(both, "the state of both directions", site);
    if (both.rank() != 3 || both.dim(0) != 2) {
      client::fail("the state of both directions is " + ir::to_string(both.type()) + ", must be [2, batch, d_hidden]",
                   site);
    }
    parts.push_back(client::squeeze(client::narrow(both, 0, which, 1, site), {0}, site));
  }
  return parts;
}

std::vector<std::vector<Value>> states_of_layers(const std::vector<Value>& state, std::size_t count, const Site& site) {
  std::vector<std::vector<Value>> states(count);
  const auto layers = static_cast<std::int64_t>(count);
  for (const Value& all : state) {
    client::fail_if_empty(all, "the state of several layers", site);
    if (all.rank() == 0 || all.dim(0) % layers != 0) {
      client::fail("the state of " + std::to_string(layers) + " layers is " + ir::to_string(all.type()) +
                       ", its first dim must divide by their number",
                   site);
    }
    const auto part = all.dim(0) / layers;
    for (std::int64_t i = 0; i < layers; ++i)
      states[static_cast<std::size_t>(i)].push_back(client::narrow(all, 0, i * part, part, site));
  }
  return states;
}

std::vector<Value> joined_states(const std::vector<std::vector<Value>>& states, const Site& site) {
  std::vector<Value> joined;
  for (std::size_t k = 0; k < states.front().size(); ++k) {
    std::vector<Value> of_layers;
    of_layers.reserve(states.size());
    for (const auto& state : states) of_layers.push_back(state[k]);
    joined.push_back(client::concat(of_layers, 0, site));
  }
  return joined;
}

RecurrentValues both_directions(const RecurrentValues& forward, const RecurrentValues& reverse, const Site& site) {
  const Value side_by_side[] = {forward.states, reverse.states};
  RecurrentValues result{client::concat(side_by_side, 2, site), {}};
  for (std::size_t i = 0; i < forward.last.size(); ++i) {
    const Value both[] = {forward.last[i], reverse.last[i]};
    result.last.push_back(client::stack(both, 0, site));
  }
  return result;
}

}  // namespace burn::nn::detail
