#include "nn/loss/mse.h"

#include "client/fail.h"
#include "client/ops/formula.h"

namespace burn::nn {

client::Value MseLoss::run(const client::Value& predictions, const client::Value& targets,
                           std::optional<Reduction> reduction, const client::Site& site) {
  if (predictions.shape() != targets.shape()) {  // broadcasting here is a mistake more often than a wish
    client::fail("mse_loss: predictions " + ir::to_string(predictions.type()) + " and targets " +
                     ir::to_string(targets.type()) + " differ in shape",
                 site);
  }
  return client::in_wide_dtype(predictions, site, [&](const client::Term& x) {
    const client::Term error = x - x.with(client::to_compute_dtype(targets, site));
    const client::Value squares = error * error;
    return reduction ? detail::reduce_loss(squares, *reduction, site) : squares;
  });
}

}  // namespace burn::nn
