#include "nn/adaptive_pool.h"

#include "nn/checks.h"

namespace burn::nn {
namespace {

template <typename Layer, std::size_t N>
Layer make(const char* config, const std::array<std::int64_t, N>& output_size) {
  detail::check_at_least(config, "output_size", output_size, 1);
  return {.output_size = output_size};
}

template <int D, std::size_t N>
Tensor<D> pool(const Tensor<D>& x, const std::array<std::int64_t, N>& output_size, const Loc& where) {
  static constexpr std::array kCalled{"adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"};
  const auto site = at(where, kCalled[D - 3]);
  return Tensor<D>{client::adaptive_avg_pool(x.value(), ir::Dims{std::span{output_size}}, site)};
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

Tensor<3> AdaptiveAvgPool1d::forward(const Tensor<3>& x, Loc where) const { return pool(x, output_size, where); }
Tensor<4> AdaptiveAvgPool2d::forward(const Tensor<4>& x, Loc where) const { return pool(x, output_size, where); }
Tensor<5> AdaptiveAvgPool3d::forward(const Tensor<5>& x, Loc where) const { return pool(x, output_size, where); }

}  // namespace burn::nn
