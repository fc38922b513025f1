#include "train/optim/tensor_optimizer.h"

namespace burn::optim {

std::vector<StateTensor> TensorOptimizer::state_tensors(const ir::Shape& param) const {
  std::vector<StateTensor> tensors;
  for (const auto name : state_names()) tensors.push_back({name, param});
  return tensors;
}

}  // namespace burn::optim
