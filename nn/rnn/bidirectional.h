// Bidirectional recurrent layers: one layer in each direction.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "nn/module/forward.h"
#include "nn/module/module.h"
#include "nn/rnn/layers.h"
#include "nn/rnn/state.h"

namespace burn::nn {

namespace detail {
// One direction's part of the tensors of a state: [2, batch, d_hidden] -> [batch, d_hidden]. An empty state stays
// empty.
std::vector<client::Value> direction(const std::vector<client::Value>& state, std::int64_t which,
                                     const client::Site& site);
// Concatenates the results of both layers, and stacks their last states, forward first.
RecurrentValues both_directions(const RecurrentValues& forward, const RecurrentValues& reverse,
                                const client::Site& site);
}  // namespace detail

// One layer in each direction; their results are concatenated.
template <typename Layer>
struct Bidirectional {
  using State = typename Layer::template State<3>;

  Layer forward_layer, reverse_layer;
  std::vector<Bidirectional> above{};  // further layers; each takes the states of the one below
  Dropout dropout{.prob = 0};          // on the states, between layers
  BURN_MODULE(Bidirectional, forward_layer, reverse_layer, above, dropout)

  // All hidden states of the last layer, and the last states of each layer. Shapes: as for one direction, but with [..,
  // .., 2 d_hidden] and states [2 n_layers, batch, d_hidden], layer by layer, forward first.
  BURN_FORWARD(nullptr, (), BURN_LIST(std::pair<Tensor<3>, State>),
               (const Tensor<3>& x, const std::optional<State>& state = std::nullopt),
               (x.value(), detail::tensors_of(state)))
  RecurrentValues apply(const client::Value& x, const std::vector<client::Value>& state,
                        const client::Site& site) const {
    return detail::apply_layers(*this, x, state, site);
  }
  // The result of this layer without those above.
  RecurrentValues apply_layer(const client::Value& x, const std::vector<client::Value>& state,
                              const client::Site& site) const {
    const auto there = forward_layer.apply(x, detail::direction(state, 0, site), site);
    const auto back = reverse_layer.apply(x, detail::direction(state, 1, site), site);
    return detail::both_directions(there, back, site);
  }
};

}  // namespace burn::nn
