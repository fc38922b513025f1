#include "nn/norm/rms_norm.h"

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Value;

RmsNorm RmsNormConfig::init(const Device& device) const {
  detail::check_at_least("RmsNormConfig", "d_model", d_model, 1);
  if (!(epsilon > 0)) detail::reject("RmsNormConfig", "epsilon must be positive");
  return {.gamma = Tensor<1>::ones({d_model}, device), .epsilon = epsilon};
}

Value RmsNorm::apply(const Value& value, const client::Site& site) const {
  detail::check_rank_at_least("rms_norm", value, 1, site);
  const Value scale = detail::held(gamma, "RmsNorm: gamma", site);
  if (value.dim(-1) != scale.dim(0)) {
    client::fail("rms_norm: the layer has size " + std::to_string(scale.dim(0)) + ", the input is " +
                     ir::to_string(value.type()),
                 site);
  }
  return client::in_wide_dtype(value, site, [&](const Value& x) {
    const Value square = client::mean(x * x, ir::Dims{value.rank() - 1}, site);
    return x / sqrt(square + epsilon) * client::as_row_vector(scale, value, site);
  });
}

}  // namespace burn::nn
