#include "nn/layer/interpolate.h"

#include <cmath>

#include "client/fail.h"
#include "client/ops/sampling.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

InterpolateMode mode_of(const char* config, const std::string& name) {
  static constexpr std::pair<const char*, InterpolateMode> kNames[] = {
      {"nearest", InterpolateMode::nearest},
      {"nearest_exact", InterpolateMode::nearest_exact},
      {"linear", InterpolateMode::bilinear},
      {"cubic", InterpolateMode::bicubic},
      {"lanczos", InterpolateMode::lanczos3}};
  for (const auto& [known, mode] : kNames) {
    if (name == known) return mode;
  }
  detail::reject(config, "mode is \"" + name + "\", must be nearest, nearest_exact, linear, cubic or lanczos");
}

template <std::size_t N, typename Layer>
Layer make(const char* config, const std::optional<std::array<std::int64_t, N>>& size,
           const std::optional<std::array<double, N>>& factor, const std::string& mode, bool align_corners) {
  if (size.has_value() == factor.has_value()) detail::reject(config, "takes one of output_size and scale_factor");
  if (size) detail::check_at_least(config, "output_size", *size, 1);
  for (const double f : factor.value_or(std::array<double, N>{})) {
    if (factor && !(f > 0 && std::isfinite(f)))
      detail::reject(config, "scale_factor is " + std::to_string(f) + ", must be positive");
  }
  return {.output_size = size,
          .scale_factor = factor,
          .options = {.mode = mode_of(config, mode), .align_corners = align_corners}};
}

// Resizes the last N dims of x to the layer's output_size or by its scale_factor.
template <std::size_t N, typename Layer>
client::Value resize(const char* op, const Layer& layer, const client::Value& x, const client::Site& site) {
  detail::check_rank(op, x, static_cast<int>(N) + 2, site);
  if (!layer.output_size && !layer.scale_factor)
    client::fail("interpolate: the layer has neither output_size nor scale_factor", site);
  ir::Dims size = ir::Dims::filled(static_cast<int>(N), 0);
  for (std::size_t i = 0; i < N; ++i) {
    const auto from = static_cast<double>(x.dim(static_cast<int>(i) + 2));
    size[static_cast<int>(i)] = layer.output_size
                                    ? (*layer.output_size)[i]
                                    : static_cast<std::int64_t>(std::floor(from * (*layer.scale_factor)[i]));
  }
  return client::interpolate(x, size, layer.options, site);
}

}  // namespace

Interpolate1d Interpolate1dConfig::init() const {
  std::optional<std::array<std::int64_t, 1>> size;
  std::optional<std::array<double, 1>> factor;
  if (output_size) size = std::array{*output_size};
  if (scale_factor) factor = std::array{*scale_factor};
  return make<1, Interpolate1d>("Interpolate1dConfig", size, factor, mode, align_corners);
}
Interpolate2d Interpolate2dConfig::init() const {
  return make<2, Interpolate2d>("Interpolate2dConfig", output_size, scale_factor, mode, align_corners);
}

client::Value Interpolate1d::apply(const client::Value& x, const client::Site& site) const {
  return resize<1>("interpolate1d", *this, x, site);
}
client::Value Interpolate2d::apply(const client::Value& x, const client::Site& site) const {
  return resize<2>("interpolate", *this, x, site);
}

}  // namespace burn::nn
