#include "nn/norm/local_response_norm.h"

#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

LocalResponseNorm LocalResponseNormConfig::init() const {
  detail::check_at_least("LocalResponseNormConfig", "size", size, 1);
  return {.size = size, .alpha = alpha, .beta = beta, .k = k};
}

client::Value LocalResponseNorm::apply(const client::Value& value, const client::Site& site) const {
  detail::check_rank_at_least("local_response_norm", value, 2, site);
  if (value.type().num_elements() == 0) return value;
  return client::in_wide_dtype(value, site, [&](const client::Value& x) {
    // Treats the channels as the height of an image, padded as far as the windows reach.
    const auto n = value.dim(0), c = value.dim(1), rest = value.type().num_elements() / (n * c);
    const std::pair<std::int64_t, std::int64_t> pads[] = {{(size - 1) / 2, size / 2}, {0, 0}};
    const client::Value squares = client::pad(client::reshape(x * x, {n, 1, c, rest}, site), pads, 0, site);
    const ir::AvgPool over_channels{.kernel = {size, 1}, .stride = {1, 1}, .padding = {0, 0}};
    const client::Value means = client::reshape(client::avg_pool(squares, over_channels, site), value.shape(), site);
    const client::Value base = means * alpha + k;
    return x / pow(base, beta);
  });
}

}  // namespace burn::nn
