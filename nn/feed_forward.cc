#include "nn/feed_forward.h"

#include "client/ops/activation.h"
#include "nn/checks.h"

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

client::Value PositionWiseFeedForward::run(const client::Value& x, Loc where) const {
  client::Value y = linear_inner.apply(x, at(where));
  if (activation == "relu")
    y = client::pointwise(ir::PointwiseFn::relu, y, at(where));
  else if (activation == "silu")
    y = client::silu(y, at(where));
  else
    y = activation == "gelu" ? client::gelu(y, at(where)) : client::gelu_approximate(y, at(where));
  if (dropout.is_dropping(y)) {
    const ir::Shape shape = y.shape();
    const Tensor<2> rows{client::reshape(y, {-1, shape.back()}, at(where))};
    y = client::reshape(dropout(rows, where).value(), shape, at(where));
  }
  return linear_outer.apply(y, at(where));
}

}  // namespace burn::nn
