#include "nn/loss/cross_entropy.h"

#include <algorithm>
#include <iterator>

#include "client/fail.h"
#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/loss/pair.h"
#include "nn/loss/probability.h"
#include "nn/loss/weights.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

CrossEntropyLoss CrossEntropyLossConfig::init(const Device& device) const {
  constexpr const char* kConfig = "CrossEntropyLossConfig";
  if (smoothing) detail::check_between(kConfig, "smoothing", *smoothing, 0, 1);
  return {.pad_tokens = pad_tokens,
          .weights = detail::loss_weights(kConfig, weights, device),
          .smoothing = smoothing,
          .logits = logits};
}

namespace {

void check_operands(const CrossEntropyLoss& loss, const Value& x, const Value& targets, const Site& site) {
  detail::check_rank("cross_entropy", x, 2, site);
  detail::check_rank("cross_entropy: the targets", targets, 1, site);
  if (targets.dim(0) != x.dim(0)) {
    client::fail("cross_entropy: input " + ir::to_string(x.type()) + " and targets " + ir::to_string(targets.type()) +
                     " have different batch sizes",
                 site);
  }
  if (loss.weights && loss.weights->slot().value.dim(0) != x.dim(1)) {
    client::fail("cross_entropy: " + std::to_string(loss.weights->slot().value.dim(0)) + " weights for " +
                     std::to_string(x.dim(1)) + " classes of " + ir::to_string(x.type()),
                 site);
  }
}

Value log_probabilities(const CrossEntropyLoss& loss, const Value& x, const Site& site) {
  return loss.logits ? client::log_softmax(x, 1, site) : log(detail::above_zero(x));
}

// -log p[target] times its weight, without smoothing: [batch, 1]. Computes no other class's logarithm.
Value plain(const CrossEntropyLoss& loss, const Value& x, const Value& column, const Site& site) {
  const auto of_probability = [&] { return -log(detail::above_zero(client::gather(x, 1, column, site))); };
  Value nll = loss.logits ? client::neg_log_softmax_at(x, 1, column, site) : of_probability();
  if (!loss.weights) return nll;
  const Value weights = client::to_compute_dtype(loss.weights->slot().value, site);
  const Value targets = client::reshape(column, {column.dim(0)}, site);
  return nll * client::unsqueeze(client::gather(weights, 0, targets, site), {1}, site);
}

// The same with smoothing by `a`, which needs the logarithm of every class, each with its own weight.
Value smoothed(const CrossEntropyLoss& loss, double a, const Value& x, const Value& column, const Site& site) {
  const Value log_p = log_probabilities(loss, x, site);
  const auto at_target = [&](const Value& v) { return client::gather(v, 1, column, site); };
  const auto weigh = [&](const Value& per_class) {  // [batch, class]
    if (!loss.weights) return per_class;
    return per_class * client::unsqueeze(client::to_compute_dtype(loss.weights->slot().value, site), {0}, site);
  };
  const Value weighted = weigh(log_p);
  const Value all = client::reduce(ir::ReduceFn::sum, weighted, {1}, site);
  return -(at_target(weighted) * (1 - a) + all * (a / static_cast<double>(weighted.dim(1))));
}

// Whether each target is one of the tokens; std::nullopt if there are no tokens.
std::optional<Value> is_one_of(const std::vector<std::int64_t>& tokens, const Value& column, const Site& site) {
  std::optional<Value> found;
  for (const auto token : tokens) {
    const Value number = client::constant(client::place_of(column), token, column.dtype(), site);
    const Value is_this = client::pointwise(ir::PointwiseFn::equal, column, number, site);
    found = found ? client::pointwise(ir::PointwiseFn::bool_or, *found, is_this, site) : is_this;
  }
  return found;
}

// The pad tokens that are not classes, such as -100.
std::vector<std::int64_t> non_class_tokens(const std::vector<std::int64_t>& pad_tokens, std::int64_t classes) {
  std::vector<std::int64_t> result;
  std::copy_if(pad_tokens.begin(), pad_tokens.end(), std::back_inserter(result),
               [&](std::int64_t token) { return token < 0 || token >= classes; });
  return result;
}

}  // namespace

Value CrossEntropyLoss::apply(const Value& x, const Value& targets, const Site& site) const {
  check_operands(*this, x, targets, site);
  const Value column = client::unsqueeze(targets, {1}, site);  // [batch, 1]
  const auto is_pad = is_one_of(pad_tokens, column, site);
  // A pad token that is not a class is looked up as class 0, and its weight is 0.
  const auto is_outside = is_one_of(non_class_tokens(pad_tokens, x.dim(1)), column, site);
  const auto unless_outside = [&](const Value& v) {
    if (!is_outside) return v;
    return client::select(*is_outside, client::constant(client::place_of(v), 0, v.dtype(), site), v, site);
  };
  const Value known = unless_outside(column);
  return client::in_wide_dtype(x, site, [&](const Value& wide) {
    const Value picked = smoothing ? smoothed(*this, *smoothing, wide, known, site) : plain(*this, wide, known, site);
    const Value per_sample = is_pad ? select(*is_pad, 0.0, picked) : picked;
    if (!weights) return client::mean_all(per_sample, site);
    const Value weight = client::unsqueeze(client::to_compute_dtype(weights->slot().value, site), {1}, site);
    const Value of_samples = unless_outside(client::gather(weight, 0, known, site));
    return client::reduce_all(ir::ReduceFn::sum, per_sample, site) /
           client::reduce_all(ir::ReduceFn::sum, of_samples, site);
  });
}

namespace detail {

Value cross_entropy_with_logits(const Value& logits, const Value& target_probs, const Site& site) {
  check_same_shape("cross_entropy_with_logits", "logits", logits, "target probabilities", target_probs, site);
  return client::in_wide_dtype(logits, site, [&](const Value& x) {
    const Value products = operand_for(x, target_probs) * client::log_softmax(x, -1, site);
    const Value sums = client::reduce(ir::ReduceFn::sum, products, {x.rank() - 1}, site);
    return -client::mean_all(sums, site);
  });
}

}  // namespace detail
}  // namespace burn::nn
