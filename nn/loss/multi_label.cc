#include "nn/loss/multi_label.h"

#include <string>

#include "client/fail.h"
#include "client/ops/activation.h"
#include "client/ops/formula.h"
#include "nn/loss/pair.h"
#include "nn/loss/weights.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

MultiLabelSoftMarginLoss MultiLabelSoftMarginLossConfig::init(const Device& device) const {
  return {.weights = detail::loss_weights("MultiLabelSoftMarginLossConfig", weights, device)};
}

Value MultiLabelMarginLoss::apply(const Value& input, const Value& targets, std::optional<Reduction> reduction,
                                  const Site& site) const {
  detail::check_same_shape("multi_label_margin_loss", "input", input, "targets", targets, site);
  detail::check_rank("multi_label_margin_loss", input, 2, site);
  return client::in_wide_dtype(input, site, [&](const Value& x) {
    const auto batch = x.dim(0), classes = x.dim(1);
    const client::Place place = client::place_of(targets);
    const Value zero = client::constant(place, 0, targets.dtype(), site);
    // 1 from the first negative target on, which ends the list.
    const Value is_negative =
        client::cast(client::pointwise(ir::PointwiseFn::lower, targets, zero, site), ir::DType::i32, site);
    const Value has_ended = client::scan(ir::ReduceFn::max, is_negative, 1, site);
    const Value is_listed =
        client::pointwise(ir::PointwiseFn::equal, has_ended, client::constant(place, 0, has_ended.dtype(), site), site);
    const Value known = client::select(is_listed, targets, zero, site);
    const Value listed = client::cast(is_listed, x.dtype(), site);  // [batch, label]
    const auto by_label = [&](const Value& v) { return client::reshape(v, {batch, classes, 1}, site); };
    const auto by_class = [&](const Value& v) { return client::reshape(v, {batch, 1, classes}, site); };
    const Value ids =
        client::reshape(client::arange(place, 0, classes, 1, targets.dtype(), site), {1, 1, classes}, site);
    const Value is_this =
        client::pointwise(ir::PointwiseFn::equal, by_label(known), ids, site);  // [batch, label, class]
    const Value hits = client::cast(is_this, x.dtype(), site) * by_label(listed);
    const Value is_target = client::reduce(ir::ReduceFn::max, hits, {1}, site);  // [batch, 1, class]
    const Value own = client::gather(x, 1, known, site);                         // [batch, label]
    const Value short_of = relu(1.0 - by_label(own) + by_class(x)) * by_label(listed) * (1.0 - is_target);
    const Value sums = client::reshape(client::reduce(ir::ReduceFn::sum, short_of, {1, 2}, site), {batch}, site);
    return detail::reduced(sums / static_cast<double>(classes), reduction, site);
  });
}

Value MultiLabelSoftMarginLoss::apply(const Value& input, const Value& targets, std::optional<Reduction> reduction,
                                      const Site& site) const {
  detail::check_same_shape("multi_label_soft_margin_loss", "input", input, "targets", targets, site);
  detail::check_rank("multi_label_soft_margin_loss", input, 2, site);
  if (weights && weights->slot().value.dim(0) != input.dim(1)) {
    client::fail("multi_label_soft_margin_loss: " + std::to_string(weights->slot().value.dim(0)) + " weights for " +
                     std::to_string(input.dim(1)) + " classes of " + ir::to_string(input.type()),
                 site);
  }
  return client::in_wide_dtype(input, site, [&](const Value& x) {
    const Value t = detail::operand_for(x, targets);
    Value loss = (1.0 - t) * x - client::log_sigmoid(x, site);
    if (weights) {
      const Value of_classes = client::cast(weights->slot().value, x.dtype(), site);
      loss = loss * client::reshape(of_classes, {1, x.dim(1)}, site);
    }
    return detail::reduced(client::squeeze(client::mean(loss, {1}, site), {1}, site), reduction, site);
  });
}

}  // namespace burn::nn
