#include "nn/loss/nll.h"

#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "nn/loss/pair.h"
#include "nn/loss/weights.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

NllLoss NllLossConfig::init(const Device& device) const {
  return {.weights = detail::loss_weights("NllLossConfig", weights, device), .ignored_target = ignored_target};
}

Value NllLoss::apply(const Value& input, const Value& target, std::optional<Reduction> reduction,
                     const Site& site) const {
  detail::check_rank("nll_loss", input, 2, site);
  detail::check_rank("nll_loss: the targets", target, 1, site);
  if (target.dim(0) != input.dim(0)) {
    client::fail("nll_loss: input " + ir::to_string(input.type()) + " and target " + ir::to_string(target.type()) +
                     " have different batch sizes",
                 site);
  }
  if (weights && weights->slot().value.dim(0) != input.dim(1)) {
    client::fail("nll_loss: " + std::to_string(weights->slot().value.dim(0)) + " weights for " +
                     std::to_string(input.dim(1)) + " classes of " + ir::to_string(input.type()),
                 site);
  }
  return client::in_wide_dtype(input, site, [&](const Value& x) {
    const Value ignored = client::constant(client::place_of(target), ignored_target, target.dtype(), site);
    const Value is_ignored = client::pointwise(ir::PointwiseFn::equal, target, ignored, site);  // [batch]
    const Value zero = client::constant(client::place_of(target), 0, target.dtype(), site);
    const Value known = client::select(is_ignored, zero, target, site);
    const Value picked = client::gather(x, 1, client::unsqueeze(known, {1}, site), site);
    Value weight = select(is_ignored, 0.0, client::filled(client::place_of(x), known.shape(), 1, x.dtype(), site));
    if (weights) {
      const Value of_classes = client::cast(client::to_compute_dtype(weights->slot().value, site), x.dtype(), site);
      weight = select(is_ignored, 0.0, client::gather(of_classes, 0, known, site));
    }
    const Value loss = select(is_ignored, 0.0, -client::squeeze(picked, {1}, site) * weight);
    const bool is_mean = reduction && (*reduction == Reduction::mean || *reduction == Reduction::auto_);
    if (!is_mean) return detail::reduced(loss, reduction, site);
    const Value total = client::reduce_all(ir::ReduceFn::sum, weight, site);
    const Value sum = client::reduce_all(ir::ReduceFn::sum, loss, site);
    return sum / select(total == 0.0, 1.0, total);
  });
}

}  // namespace burn::nn
