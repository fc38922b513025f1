#include "nn/attention/feed_forward.h"

#include <string>

#include "nn/module/checks.h"

namespace burn::nn {

PositionWiseFeedForward PositionWiseFeedForwardConfig::init(const Device& device) const {
  constexpr const char* kName = "PositionWiseFeedForwardConfig";
  detail::check_at_least(kName, "d_model", d_model, 1);
  detail::check_at_least(kName, "d_ff", d_ff, 1);
  auto chosen = activation;
  std::int64_t width = d_ff;  // of the activation's result
  if (chosen.kind == "glu") {
    if (d_ff % 2 != 0) detail::reject(kName, "d_ff is " + std::to_string(d_ff) + ", must be even for glu");
    width = d_ff / 2;
  } else if (chosen.kind == "swi_glu") {
    if (const auto d_input = chosen.d_input.value_or(d_ff); d_input != d_ff) {
      detail::reject(kName,
                     "the activation takes " + std::to_string(d_input) + " features, d_ff is " + std::to_string(d_ff));
    }
    chosen.d_input = d_ff;
    width = *(chosen.d_output = chosen.d_output.value_or(d_ff));
  }
  return {.linear_inner = LinearConfig{.d_input = d_model, .d_output = d_ff, .initializer = initializer}.init(device),
          .linear_outer = LinearConfig{.d_input = width, .d_output = d_model, .initializer = initializer}.init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .activation = chosen.init(device)};
}

client::Value PositionWiseFeedForward::apply(const client::Value& x, const client::Site& site) const {
  client::Value y = activation.apply(linear_inner.apply(x, site), site);
  if (dropout.is_dropping(y)) {
    const ir::Shape shape = y.shape();
    y = client::reshape(dropout.apply(client::reshape(y, {-1, shape.back()}, site), site), shape, site);
  }
  return linear_outer.apply(y, site);
}

}  // namespace burn::nn
