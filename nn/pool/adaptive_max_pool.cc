#include "nn/pool/adaptive_max_pool.h"

#include "client/ops/ops.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

template <std::size_t N>
client::Value pool(const client::Value& x, const std::array<std::int64_t, N>& output_size, const client::Site& site) {
  detail::check_rank("adaptive_max_pool", x, static_cast<int>(N) + 2, site);
  return client::adaptive_max_pool(x, ir::Dims{std::span{output_size}}, site).values;
}

}  // namespace

AdaptiveMaxPool1d AdaptiveMaxPool1dConfig::init() const {
  detail::check_at_least("AdaptiveMaxPool1dConfig", "output_size", output_size, 1);
  return {.output_size = {output_size}};
}
AdaptiveMaxPool2d AdaptiveMaxPool2dConfig::init() const {
  detail::check_at_least("AdaptiveMaxPool2dConfig", "output_size", output_size, 1);
  return {.output_size = output_size};
}
AdaptiveMaxPool3d AdaptiveMaxPool3dConfig::init() const {
  detail::check_at_least("AdaptiveMaxPool3dConfig", "output_size", output_size, 1);
  return {.output_size = output_size};
}

client::Value AdaptiveMaxPool1d::apply(const client::Value& x, const client::Site& site) const {
  return pool(x, output_size, site);
}
client::Value AdaptiveMaxPool2d::apply(const client::Value& x, const client::Site& site) const {
  return pool(x, output_size, site);
}
client::Value AdaptiveMaxPool3d::apply(const client::Value& x, const client::Site& site) const {
  return pool(x, output_size, site);
}

}  // namespace burn::nn
