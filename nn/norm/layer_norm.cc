#include "nn/norm/layer_norm.h"

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

LayerNorm LayerNormConfig::init(const Device& device) const {
  detail::check_at_least("LayerNormConfig", "d_model", d_model, 1);
  LayerNorm layer{.gamma = Tensor<1>::ones({d_model}, device), .epsilon = epsilon};
  if (bias) layer.beta = Tensor<1>::zeros({d_model}, device);
  return layer;
}

client::Value LayerNorm::apply(const client::Value& x, const client::Site& site) const {
  client::fail_if_empty(x, "layer_norm", site);
  const auto shift = detail::held_if_any(beta, site);
  return detail::layer_norm(x, detail::held(gamma, "LayerNorm: gamma", site), detail::pointer_to(shift), epsilon, site);
}

client::Value detail::layer_norm(const client::Value& x, const client::Value& gamma, const client::Value* beta,
                                 double epsilon, const client::Site& site) {
  check_rank_at_least("layer_norm", x, 1, site);
  client::fail_if_empty(gamma, "layer_norm: gamma", site);
  if (x.dim(-1) != gamma.dim(0)) {
    client::fail(
        "layer_norm: the layer has size " + std::to_string(gamma.dim(0)) + ", the input is " + ir::to_string(x.type()),
        site);
  }
  const auto line = [&](const client::Value& v) { return client::as_row_vector(v, x, site); };
  const ir::Dims axis{x.rank() - 1};
  return client::in_wide_dtype(x, site, [&](const client::Value& wide) {
    const client::Value centred = wide - client::mean(wide, axis, site);
    const client::Value var = client::mean(centred * centred, axis, site);
    const client::Value y = centred / sqrt(var + epsilon) * line(gamma);
    return beta ? y + line(*beta) : y;
  });
}

}  // namespace burn::nn
