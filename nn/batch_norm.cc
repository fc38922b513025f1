#include "nn/batch_norm.h"

#include "client/fail.h"
#include "client/formula.h"
#include "nn/checks.h"

namespace burn::nn {

using client::Site;
using client::Term;
using client::Value;

BatchNorm BatchNormConfig::init(const Device& device) const {
  detail::check_at_least("BatchNormConfig", "num_features", num_features, 1);
  detail::check_between("BatchNormConfig", "momentum", momentum, 0, 1);
  return {.gamma = Tensor<1>::ones({num_features}, device),
          .beta = Tensor<1>::zeros({num_features}, device),
          .running_mean = Tensor<1>::zeros({num_features}, device),
          .running_var = Tensor<1>::ones({num_features}, device),
          .momentum = momentum,
          .epsilon = epsilon};
}

namespace {

// Moves a statistic towards that of a batch, [1, channel, 1, ...].
void move_towards(const RunningState<1>& running, const Term& batch, double momentum) {
  const Term old = batch.with(running.slot().value);
  const Term seen = batch.with(client::reshape(batch.value().inner(), old.value().shape(), batch.site()));
  running.update(Tensor<1>{old * (1 - momentum) + seen * momentum});
}

}  // namespace

Value BatchNorm::run(const Value& x, const Site& site) const {
  const Value& scale = gamma.slot().value;
  if (x.dim(1) != scale.dim(0)) {
    client::fail("batch_norm: the layer has " + std::to_string(scale.dim(0)) + " channels, the input is " + ir::to_string(x.type()), site);
  }
  ir::Shape per_channel = ir::Shape::filled(x.rank(), 1);  // [1, channel, 1, ...]
  per_channel[1] = scale.dim(0);
  const auto line = [&](const Value& v) { return Term{client::reshape(v, per_channel, site), site}; };
  const auto normalise = [&](const Term& centred, const Term& var) {
    return centred * (line(scale) / sqrt(var + epsilon)) + line(beta.slot().value);
  };
  if (!scale.is_autodiff()) {
    return normalise(Term{x, site} - line(running_mean.slot().value), line(running_var.slot().value));
  }

  if (x.type().num_elements() == 0) client::fail("batch_norm: no statistics of an empty batch, " + ir::to_string(x.type()), site);
  ir::Dims axes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != 1) axes.push_back(i);
  }
  const Term mean{client::mean(x, axes, site), site};
  const Term centred = Term{x, site} - mean;
  const Term var{client::mean(centred * centred, axes, site), site};
  move_towards(running_mean, mean, momentum);
  move_towards(running_var, var, momentum);
  return normalise(centred, var);
}

}  // namespace burn::nn
