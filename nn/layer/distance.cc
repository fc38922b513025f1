#include "nn/layer/distance.h"

#include "client/ops/formula.h"
#include "client/ops/norms.h"

namespace burn::nn {

using client::Site;
using client::Value;

Value PairwiseDistance::apply(const Value& x1, const Value& x2, const Site& site) const {
  client::fail_if_empty(x1, "pairwise_distance", site);
  client::fail_if_empty(x2, "pairwise_distance", site);
  return client::in_wide_dtype(x1, site, [&](const Value& a) {
    const Value difference = a - client::to_compute_dtype(x2, site);
    const Value norm = client::vector_norm(eps == 0 ? difference : difference + eps, p, -1, site);
    return client::squeeze(norm, {norm.rank() - 1}, site);
  });
}

Value CosineSimilarity::apply(const Value& x1, const Value& x2, const Site& site) const {
  const Value y = client::cosine_similarity(x1, x2, dim, eps, site);
  return client::squeeze(y, {client::normalize_axis(dim, y, "cosine_similarity", site)}, site);
}

}  // namespace burn::nn
