#include "nn/norm/batch_norm.h"

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
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

// [channel] as [1, channel, 1, ...], to broadcast to x.
Value per_channel(const Value& v, const Value& x) {
  ir::Shape shape = ir::Shape::filled(x.rank(), 1);
  shape[1] = v.type().num_elements();
  return client::reshape(client::to_compute_dtype(v, client::current_site()), shape, client::current_site());
}

Value scale_and_shift(const Value& centred, const Value& var, const Value& gamma, const Value& beta, double epsilon) {
  return centred * (per_channel(gamma, centred) / sqrt(var + epsilon)) + per_channel(beta, centred);
}

// Moves a running statistic towards the batch's, [1, channel, 1, ...], by `momentum`.
void move_towards(const RunningState<1>& running, const Value& batch, double momentum) {
  const Value moved = client::in_compute_dtype(running.slot().value, client::current_site(), [&](const Value& old) {
    const Value seen = client::reshape(batch.inner(), old.shape(), client::current_site());
    return old * (1 - momentum) + seen * momentum;
  });
  running.update(Tensor<1>{moved});
}

ir::Dims all_but_channels(const Value& x) {
  ir::Dims axes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != 1) axes.push_back(i);
  }
  return axes;
}

}  // namespace

Value detail::batch_norm(const Value& x, const Value& gamma, const Value& beta, const Value& mean, const Value& var,
                         double epsilon, const Site& site) {
  return client::in_wide_dtype(x, site, [&](const Value& t) {
    return scale_and_shift(t - per_channel(mean, t), per_channel(var, t), gamma, beta, epsilon);
  });
}

Value BatchNorm::apply(const Value& x, const Site& site) const {
  detail::check_rank_at_least("batch_norm", x, 2, site);
  const Value scale = detail::held(gamma, "BatchNorm: gamma", site),
              shift = detail::held(beta, "BatchNorm: beta", site);
  if (x.dim(1) != scale.dim(0)) {
    client::fail("batch_norm: the layer has " + std::to_string(scale.dim(0)) + " channels, the input is " +
                     ir::to_string(x.type()),
                 site);
  }
  if (!training.is_on(scale)) {
    return detail::batch_norm(x, scale, shift, running_mean.slot().value, running_var.slot().value, epsilon, site);
  }
  if (x.type().num_elements() == 0)
    client::fail("batch_norm: no statistics of an empty batch, " + ir::to_string(x.type()), site);
  const ir::Dims axes = all_but_channels(x);
  return client::in_wide_dtype(x, site, [&](const Value& wide) {
    const Value mean = client::mean(wide, axes, site);
    const Value centred = wide - mean;
    const Value var = client::mean(centred * centred, axes, site);
    move_towards(running_mean, mean, momentum);
    move_towards(running_var, var, momentum);
    return scale_and_shift(centred, var, scale, shift, epsilon);
  });
}

}  // namespace burn::nn
