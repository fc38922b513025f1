#include "nn/attention/feed_forward.h"

#include "client/ops/activation.h"
#include "nn/module/checks.h"

namespace burn::nn {

PositionWiseFeedForward PositionWiseFeedForwardConfig::init(const Device& device) const {
  detail::check_at_least("PositionWiseFeedForwardConfig", "d_model", d_model, 1);
  detail::check_at_least("PositionWiseFeedForwardConfig", "d_ff", d_ff, 1);
  if (activation != "gelu" && activation != "gelu_approximate" && activation != "relu" && activation != "silu") {
    detail::reject("PositionWiseFeedForwardConfig",
                   "no activation \"" + activation + "\": gelu, gelu_approximate, relu or silu");
  }
  return {.linear_inner = LinearConfig{.d_input = d_model, .d_output = d_ff, .initializer = initializer}.init(device),
          .linear_outer = LinearConfig{.d_input = d_ff, .d_output = d_model, .initializer = initializer}.init(device),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .activation = activation};
}

client::Value PositionWiseFeedForward::apply(const client::Value& x, const client::Site& site) const {
  client::Value y = linear_inner.apply(x, site);
  if (activation == "relu")
    y = client::pointwise(ir::PointwiseFn::relu, y, site);
  else if (activation == "silu")
    y = client::silu(y, site);
  else
    y = activation == "gelu" ? client::gelu(y, site) : client::gelu_approximate(y, site);
  if (dropout.is_dropping(y)) {
    const ir::Shape shape = y.shape();
    y = client::reshape(dropout.apply(client::reshape(y, {-1, shape.back()}, site), site), shape, site);
  }
  return linear_outer.apply(y, site);
}

}  // namespace burn::nn
