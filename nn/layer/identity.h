// The layer that returns its input.
#pragma once

#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

struct Identity {
  BURN_MODULE(Identity)
  // The argument itself, of any rank and kind.
  BURN_FORWARD(nullptr, (template <int D, Kind K>), BURN_LIST(Tensor<D, K>), (const Tensor<D, K>& x), (x.value()))
  client::Value apply(const client::Value& x, const client::Site&) const { return x; }
};

}  // namespace burn::nn
