// Devices, tensors and models with static lifetime: they exist before main() and after it.
#pragma once

#include <memory>
#include <string>

#include "burn/burn.h"

namespace burn::test {

struct Net {
  nn::Linear hidden, output;
  BURN_MODULE(Net, hidden, output)

  Tensor<2> forward(const Tensor<2>& x) const { return output(hidden(x).relu()); }
};

extern const std::string url;
extern Device device, autodiff;  // devices.cc
extern Tensor<2> weights;
Net& net();  // model.cc: constructed on the first call

}  // namespace burn::test
