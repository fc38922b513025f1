#include "nn/pool/adaptive_pool.h"

#include "nn/module/checks.h"

namespace burn::nn {
namespace {

template <typename Layer, std::size_t N>
Layer make(const char* config, const std::array<std::int64_t, N>& output_size) {
  detail::check_at_least(config, "output_size", output_size, 1);
  return {.output_size = output_size};
}

template <std::size_t N>
client::Value pool(const client::Value& x, const std::array<std::int64_t, N>& output_size, const client::Site& site) {
  detail::check_rank("adaptive_avg_pool", x, static_cast<int>(N) + 2, site);
  return client::adaptive_avg_pool(x, ir::Dims{std::span{output_size}}, site);
}

}  // namespace

AdaptiveAvgPool1d AdaptiveAvgPool1dConfig::init() const {
  return make<AdaptiveAvgPool1d>("AdaptiveAvgPool1dConfig", std::array{output_size});
}
AdaptiveAvgPool2d AdaptiveAvgPool2dConfig::init() const {
  return make<AdaptiveAvgPool2d>("AdaptiveAvgPool2dConfig", output_size);
}
AdaptiveAvgPool3d AdaptiveAvgPool3dConfig::init() const {
  return make<AdaptiveAvgPool3d>("AdaptiveAvgPool3dConfig", output_size);
}

client::Value AdaptiveAvgPool1d::apply(const client::Value& x, const client::Site& site) const {
  return pool(x, output_size, site);
}
client::Value AdaptiveAvgPool2d::apply(const client::Value& x, const client::Site& site) const {
  return pool(x, output_size, site);
}
client::Value AdaptiveAvgPool3d::apply(const client::Value& x, const client::Site& site) const {
  return pool(x, output_size, site);
}

}  // namespace burn::nn
