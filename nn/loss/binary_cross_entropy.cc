#include "nn/loss/binary_cross_entropy.h"

#include "client/fail.h"
#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/loss/pair.h"
#include "nn/loss/probability.h"
#include "nn/loss/weights.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Value;

BinaryCrossEntropyLoss BinaryCrossEntropyLossConfig::init(const Device& device) const {
  constexpr const char* kConfig = "BinaryCrossEntropyLossConfig";
  if (smoothing) detail::check_between(kConfig, "smoothing", *smoothing, 0, 1);
  return {.weights = detail::loss_weights(kConfig, weights, device), .smoothing = smoothing, .logits = logits};
}

namespace {

// -(t log sigmoid(x) + (1 - t) log(1 - sigmoid(x))) in a form that neither overflows nor loses digits.
Value of_logits(const Value& x, const Value& t) {
  return (1.0 - t) * x - client::log_sigmoid(x, client::current_site());
}

Value of_probabilities(const Value& p, const Value& t) {
  return (t - 1.0) * log1p(-detail::below_one(p)) - t * log(detail::above_zero(p));
}

// The weight of each element, in a shape that broadcasts to x's. `t`: the targets before smoothing, in x's dtype.
Value weights_like(const Value& weights, const Value& t, const Value& x) {
  const auto& site = client::current_site();
  const auto wanted = x.rank() == 1 ? 2 : x.dim(-1);
  if (weights.dim(0) != wanted) {
    client::fail("binary_cross_entropy: " + std::to_string(weights.dim(0)) + " weights, but " +
                     ir::to_string(x.type()) + " needs " + std::to_string(wanted),
                 site);
  }
  const Value all = client::cast(weights, t.dtype(), site);
  if (x.rank() != 1) {
    ir::Shape shape = ir::Shape::filled(x.rank(), 1);
    shape[x.rank() - 1] = wanted;
    return client::reshape(all, shape, site);
  }
  const Value of_no = client::narrow(all, 0, 0, 1, site), of_yes = client::narrow(all, 0, 1, 1, site);
  return of_no * (1.0 - t) + of_yes * t;
}

}  // namespace

Value BinaryCrossEntropyLoss::apply(const Value& x, const Value& targets, const client::Site& site) const {
  detail::check_same_shape("binary_cross_entropy", "input", x, "targets", targets, site);
  return client::in_wide_dtype(x, site, [&](const Value& wide) {
    const Value given = client::cast(targets, wide.dtype(), site);
    Value t = given;
    if (smoothing) t = t * (1 - *smoothing) + *smoothing / static_cast<double>(x.rank() == 1 ? 2 : x.dim(-1));
    Value loss = logits ? of_logits(wide, t) : of_probabilities(wide, t);
    if (weights) loss = loss * weights_like(weights->slot().value, given, x);
    return client::mean_all(loss, site);
  });
}

}  // namespace burn::nn
