#include "nn/loss/reduction.h"

#include "client/ops/formula.h"

namespace burn::nn::detail {

client::Value reduce_loss(const client::Value& loss, Reduction reduction, const client::Site& site) {
  const client::SiteScope scope{site};
  switch (reduction) {
    case Reduction::sum:
      return client::reduce_all(ir::ReduceFn::sum, loss, site);
    case Reduction::batch_mean:
      return client::reduce_all(ir::ReduceFn::sum, loss, site) / static_cast<double>(loss.dim(0));
    case Reduction::mean:
    case Reduction::auto_:
      break;
  }
  return client::mean_all(loss, site);
}

}  // namespace burn::nn::detail
