#include "nn/layer/dropout.h"

#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

Dropout DropoutConfig::init() const {
  detail::check_between("DropoutConfig", "prob", prob, 0, 1);
  return {.prob = prob};
}

client::Value Dropout::apply(const client::Value& x, const client::Site& site) const {
  if (!is_dropping(x)) return x;
  const double keep = 1 - prob;
  const client::SiteScope scope{site};
  if (keep == 0) return x * 0.0;
  const Device device{x.device(), x.is_autodiff()};
  return client::in_compute_dtype(x, site, [&](const client::Value& wide) {
    const auto mask = client::random(x.shape(), Distribution::bernoulli(keep), {device, wide.dtype()}, site);
    return wide * mask * (1 / keep);
  });
}

}  // namespace burn::nn
