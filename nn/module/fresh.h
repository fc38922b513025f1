// Copies of modules that are independent of the original.
#pragma once

#include "nn/module/module.h"

namespace burn::nn {

// A copy with the same values but its own parameters: new ids and, where they are trained, new leaves of the tape.
// Within one module it is trained, counted and recorded separately, whereas a plain copy is tied to the original.
// Parameters tied within `module` are tied within the copy, too. Nothing is copied on the device. For other initial
// values, make another layer from its configuration instead.
//
//   std::vector<nn::Linear> layers{layer, nn::fresh(layer), nn::fresh(layer)};
template <Module M>
M fresh(const M& module) {
  M copy = module;
  for_each_slot(copy.walk(), [](const std::string&, Slot& slot) {
    slot.id = new_param_id();
    slot.put(slot.value.inner(), slot.value.is_autodiff());
  });
  return copy;
}
// The same for one parameter.
template <int D, Kind K>
Param<D, K> fresh(const Param<D, K>& param) {
  Param<D, K> copy = param;
  const auto renew = [](Slot& slot) {
    if (!slot.value.has_value()) return;
    slot.id = new_param_id();
    slot.put(slot.value.inner(), slot.value.is_autodiff());
  };
  renew(copy.slot());
  for (auto& slot : copy.adapter().slots) renew(slot);
  return copy;
}

}  // namespace burn::nn
