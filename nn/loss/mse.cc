#include "nn/loss/mse.h"

#include "client/fail.h"
#include "client/formula.h"

namespace burn::nn {

client::Value MseLoss::squares(const client::Value& predictions, const client::Value& targets,
                               const client::Site& site) {
  if (predictions.shape() != targets.shape()) {  // broadcasting here is a mistake more often than a wish
    client::fail("mse_loss: predictions " + ir::to_string(predictions.type()) + " and targets " +
                     ir::to_string(targets.type()) + " differ in shape",
                 site);
  }
  const client::Term error = client::Term{predictions, site} - client::Term{targets, site};
  return error * error;
}

}  // namespace burn::nn
