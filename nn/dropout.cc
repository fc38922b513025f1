#include "nn/dropout.h"

#include "client/formula.h"
#include "nn/checks.h"

namespace burn::nn {

Dropout DropoutConfig::init() const {
  detail::check_between("DropoutConfig", "prob", prob, 0, 1);
  return {.prob = prob};
}

client::Value Dropout::run(const client::Value& x, const client::Site& site) const {
  if (prob == 0 || !x.is_autodiff()) return x;
  const double keep = 1 - prob;
  if (keep == 0) return client::Term{x, site} * 0.0;
  const Device device{x.device(), true};
  return client::in_compute_dtype(x, site, [&](const client::Term& wide) {
    return wide * wide.with(client::random(x.shape(), Distribution::bernoulli(keep), {device, wide.value().dtype()}, site)) * (1 / keep);
  });
}

}  // namespace burn::nn
