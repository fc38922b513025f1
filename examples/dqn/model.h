// The Q-network: the value of each action, that is, the rewards that follow it if the best actions are taken from then
// on.
#pragma once

#include <burn/burn.h>

namespace dqn {

using namespace burn::prelude;

struct QNet {
  nn::Linear first, second, last;
  nn::Relu activation;
  BURN_MODULE(QNet, first, second, last, activation)

  // [batch, 4] -> [batch, actions]
  Tensor<2> forward(const Tensor<2>& states) const { return last(activation(second(activation(first(states))))); }
};

struct QNetConfig {
  std::int64_t hidden = 128;

  QNet init(const Device& device) const {
    return {.first = nn::LinearConfig{.d_input = 4, .d_output = hidden}.init(device),
            .second = nn::LinearConfig{.d_input = hidden, .d_output = hidden}.init(device),
            .last = nn::LinearConfig{.d_input = hidden, .d_output = 2}.init(device),
            .activation = {}};
  }
};

}  // namespace dqn
