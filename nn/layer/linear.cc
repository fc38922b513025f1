#include "nn/layer/linear.h"

#include "nn/module/checks.h"
#include "nn/module/reparameterization.h"

namespace burn::nn {

Linear LinearConfig::init(const Device& device) const {
  detail::check_at_least("LinearConfig", "d_input", d_input, 1);
  detail::check_at_least("LinearConfig", "d_output", d_output, 1);
  const Tensor<2> weight = initializer.init<2>({d_input, d_output}, device, d_input, d_output);
  Linear layer{.weight = weight, .layout = layout};
  if (layout == LinearLayout::col) {
    const auto turned = [](const Tensor<2>& x) { return x.t(); };
    layer.weight = Param<2>{turned(weight)}.with_record_mappers(turned, turned);
  }
  if (bias) layer.bias = initializer.init<1>({d_output}, device, d_input, d_output);
  return layer;
}

client::Value Linear::apply(const client::Value& x, const client::Site& site) const {
  const auto shift = detail::held_if_any(bias, site);
  if (weight.is_adapted()) {
    const auto& [how, adapters] = weight.adapter();
    return how->product(x, weight.slot().value, adapters, detail::pointer_to(shift), layout, site);
  }
  return client::linear(x, detail::held(weight, "Linear: weight", site), detail::pointer_to(shift), site, layout);
}

}  // namespace burn::nn
