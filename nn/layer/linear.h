// A fully connected layer.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "nn/module/forward.h"
#include "nn/module/initializer.h"
#include "nn/module/module.h"

namespace burn::client {

constexpr std::array<std::string_view, 2> enum_names(LinearLayout) { return {"row", "col"}; }

}  // namespace burn::client

namespace burn::nn {

using client::LinearLayout;

// y = x weight + bias.
struct Linear {
  Param<2> weight;                 // [d_input, d_output]; of LinearLayout::col [d_output, d_input]
  std::optional<Param<1>> bias{};  // [d_output]
  LinearLayout layout = LinearLayout::row;
  BURN_MODULE(Linear, weight, bias)

  // Shapes: [..., d_input] -> [..., d_output]. Errors: another last dim.
  BURN_FORWARD_ANY_RANK("linear", 1)
  // The same without a rank, for layers that contain a Linear.
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct LinearConfig {
  std::int64_t d_input = 0, d_output = 0;
  bool bias = true;
  Initializer initializer = default_initializer();  // of weight and bias
  // The weight's layout in memory. In records it is [d_input, d_output] either way, so layers of both layouts load the
  // same records.
  LinearLayout layout = LinearLayout::row;
  BURN_CONFIG(LinearConfig, d_input, d_output, bias, initializer, layout)

  // Errors: a size below 1.
  Linear init(const Device& device) const;
};

}  // namespace burn::nn
