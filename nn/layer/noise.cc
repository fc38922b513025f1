#include "nn/layer/noise.h"

#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

GaussianNoise GaussianNoiseConfig::init() const {
  if (!(std >= 0)) detail::reject("GaussianNoiseConfig", "std is " + ::std::to_string(std) + ", must not be negative");
  return {.std = std};
}

client::Value GaussianNoise::apply(const client::Value& x, const client::Site& site) const {
  client::fail_if_empty(x, "gaussian_noise", site);
  if (std == 0 || !training.is_on(x)) return x;
  return client::in_compute_dtype(x, site, [&](const client::Value& wide) {
    const Device device{x.device(), x.is_autodiff()};
    return wide + client::random(x.shape(), Distribution::normal(0, std), {device, wide.dtype()}, site);
  });
}

}  // namespace burn::nn
