#include "nn/loss/binary_cross_entropy.h"

#include "client/fail.h"
#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/checks.h"
#include "nn/loss/probability.h"
#include "nn/loss/weights.h"

namespace burn::nn {

using client::Term;
using client::Value;

BinaryCrossEntropyLoss BinaryCrossEntropyLossConfig::init(const Device& device) const {
  constexpr const char* kConfig = "BinaryCrossEntropyLossConfig";
  if (smoothing) detail::check_between(kConfig, "smoothing", *smoothing, 0, 1);
  return {.weights = detail::loss_weights(kConfig, weights, device), .smoothing = smoothing, .logits = logits};
}

namespace {

// -(t log sigmoid(x) + (1 - t) log(1 - sigmoid(x))) in a form that neither overflows nor loses digits.
Term of_logits(const Term& x, const Term& t) {
  return (1.0 - t) * x - Term{client::log_sigmoid(x, x.site()), x.site()};
}

Term of_probabilities(const Term& p, const Term& t) {
  return (t - 1.0) * log1p(-detail::below_one(p)) - t * log(detail::above_zero(p));
}

// The weight of each element, in a shape that broadcasts to x's.
Value weights_like(const Value& weights, const Value& x, const Value& targets, const client::Site& site) {
  const auto wanted = x.rank() == 1 ? 2 : x.dim(-1);
  if (weights.dim(0) != wanted) {
    client::fail("binary_cross_entropy: " + std::to_string(weights.dim(0)) + " weights, but " +
                     ir::to_string(x.type()) + " needs " + std::to_string(wanted),
                 site);
  }
  if (x.rank() == 1) return client::gather(weights, 0, targets, site);
  ir::Shape shape = ir::Shape::filled(x.rank(), 1);
  shape[x.rank() - 1] = wanted;
  return client::reshape(weights, shape, site);
}

}  // namespace

Value BinaryCrossEntropyLoss::run(const Value& x, const Value& targets, const client::Site& site) const {
  if (x.shape() != targets.shape()) {
    client::fail("binary_cross_entropy: input " + ir::to_string(x.type()) + " and targets " +
                     ir::to_string(targets.type()) + " differ in shape",
                 site);
  }
  return client::in_wide_dtype(x, site, [&](const Term& wide) {
    Term t = wide.with(client::cast(targets, wide.value().dtype(), site));
    if (smoothing) t = t * (1 - *smoothing) + *smoothing / static_cast<double>(x.rank() == 1 ? 2 : x.dim(-1));
    Term loss = logits ? of_logits(wide, t) : of_probabilities(wide, t);
    if (weights)
      loss = loss * wide.with(weights_like(client::to_compute_dtype(weights->slot().value, site), x, targets, site));
    return client::mean_all(loss, site);
  });
}

}  // namespace burn::nn
