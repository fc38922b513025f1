// The parameters of a gate of a recurrent layer: its weights for the input and for the hidden state.
#pragma once

#include "nn/layer/linear.h"

namespace burn::nn {

struct GateController {
  Linear input_transform;   // weight [d_input, d_hidden]
  Linear hidden_transform;  // weight [d_hidden, d_hidden]
  BURN_MODULE(GateController, input_transform, hidden_transform)
};

struct GateControllerConfig {
  std::int64_t d_input = 0, d_hidden = 0;
  bool bias = true;
  Initializer initializer = Initializer::xavier_normal();
  BURN_CONFIG(GateControllerConfig, d_input, d_hidden, bias, initializer)

  GateController init(const Device& device) const;  // Errors: a size below 1.
};

}  // namespace burn::nn
