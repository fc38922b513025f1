#include "nn/layer/linear.h"

#include "nn/module/checks.h"

namespace burn::nn {

Linear LinearConfig::init(const Device& device) const {
  detail::check_at_least("LinearConfig", "d_input", d_input, 1);
  detail::check_at_least("LinearConfig", "d_output", d_output, 1);
  Linear layer{.weight = initializer.init<2>({d_input, d_output}, device, d_input, d_output)};
  if (bias) layer.bias = initializer.init<1>({d_output}, device, d_input, d_output);
  return layer;
}

client::Value Linear::apply(const client::Value& x, const client::Site& site) const {
  return client::linear(x, detail::held(weight.slot(), "Linear: weight", site), bias ? &bias->slot().value : nullptr,
                        site);
}

}  // namespace burn::nn
