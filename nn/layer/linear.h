// A fully connected layer.
#pragma once

#include <optional>

#include "nn/module/forward.h"
#include "nn/module/initializer.h"
#include "nn/module/module.h"

namespace burn::nn {

// y = x weight + bias. The weight is not transposed.
struct Linear {
  Param<2> weight;                 // [d_input, d_output]
  std::optional<Param<1>> bias{};  // [d_output]
  BURN_MODULE(Linear, weight, bias)

  // Shapes: [..., d_input] -> [..., d_output]. Errors: another last dim.
  BURN_FORWARD_ANY_RANK("linear", 1)
  // The same without a rank, for layers made of it.
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct LinearConfig {
  std::int64_t d_input = 0, d_output = 0;
  bool bias = true;
  Initializer initializer = default_initializer();  // of weight and bias
  BURN_CONFIG(LinearConfig, d_input, d_output, bias, initializer)

  // Errors: a size below 1.
  Linear init(const Device& device) const;
};

}  // namespace burn::nn
