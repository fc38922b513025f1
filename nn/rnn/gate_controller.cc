#include "nn/rnn/gate_controller.h"

namespace burn::nn {

GateController GateControllerConfig::init(const Device& device) const {
  const LinearConfig input{.d_input = d_input, .d_output = d_hidden, .bias = bias, .initializer = initializer};
  const LinearConfig hidden{.d_input = d_hidden, .d_output = d_hidden, .bias = bias, .initializer = initializer};
  return {.input_transform = input.init(device), .hidden_transform = hidden.init(device)};
}

}  // namespace burn::nn
