#include "nn/adaptive_max_pool.h"

#include "nn/checks.h"
#include "nn/functional/pooling.h"

namespace burn::nn {

AdaptiveMaxPool1d AdaptiveMaxPool1dConfig::init() const {
  detail::check_at_least("AdaptiveMaxPool1dConfig", "output_size", output_size, 1);
  return {.output_size = {output_size}};
}
AdaptiveMaxPool2d AdaptiveMaxPool2dConfig::init() const {
  detail::check_at_least("AdaptiveMaxPool2dConfig", "output_size", output_size, 1);
  return {.output_size = output_size};
}
AdaptiveMaxPool3d AdaptiveMaxPool3dConfig::init() const {
  detail::check_at_least("AdaptiveMaxPool3dConfig", "output_size", output_size, 1);
  return {.output_size = output_size};
}

Tensor<3> AdaptiveMaxPool1d::forward(const Tensor<3>& x, Loc where) const {
  return module::adaptive_max_pool1d(x, output_size[0], where);
}
Tensor<4> AdaptiveMaxPool2d::forward(const Tensor<4>& x, Loc where) const {
  return module::adaptive_max_pool2d(x, output_size, where);
}
Tensor<5> AdaptiveMaxPool3d::forward(const Tensor<5>& x, Loc where) const {
  return module::adaptive_max_pool3d(x, output_size, where);
}

}  // namespace burn::nn
