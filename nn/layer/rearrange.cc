#include "nn/layer/rearrange.h"

#include "client/fail.h"
#include "client/ops/sampling.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

using client::Site;
using client::Value;

// Errors: sizes that `factor` does not divide. `what` must be divisible.
void check_divides(const char* op, std::int64_t factor, std::int64_t size, const char* what, const Value& x,
                   const Site& site) {
  if (factor >= 1 && size % factor == 0) return;
  client::fail(std::string{op} + ": " + std::to_string(factor) + " does not divide the " + what + " of " +
                   ir::to_string(x.type()),
               site);
}

template <typename Config>
UnfoldOptions windows_of(const char* name, const Config& config) {
  detail::check_at_least(name, "kernel_size", config.kernel_size, 1);
  detail::check_at_least(name, "stride", config.stride, 1);
  detail::check_at_least(name, "dilation", config.dilation, 1);
  detail::check_at_least(name, "padding", config.padding, 0);
  return {.stride = config.stride, .padding = config.padding, .dilation = config.dilation};
}

}  // namespace

PixelShuffle PixelShuffleConfig::init() const {
  detail::check_at_least("PixelShuffleConfig", "upscale_factor", upscale_factor, 1);
  return {.upscale_factor = upscale_factor};
}
PixelUnshuffle PixelUnshuffleConfig::init() const {
  detail::check_at_least("PixelUnshuffleConfig", "downscale_factor", downscale_factor, 1);
  return {.downscale_factor = downscale_factor};
}

Value PixelShuffle::apply(const Value& x, const Site& site) const {
  detail::check_rank("pixel_shuffle", x, 4, site);
  const auto n = x.dim(0), channels = x.dim(1), h = x.dim(2), w = x.dim(3), r = upscale_factor;
  check_divides("pixel_shuffle", r * r, channels, "channels", x, site);
  const auto c = channels / (r * r);
  const Value parts = client::permute(client::reshape(x, {n, c, r, r, h, w}, site), {0, 1, 4, 2, 5, 3}, site);
  return client::reshape(parts, {n, c, h * r, w * r}, site);
}

Value PixelUnshuffle::apply(const Value& x, const Site& site) const {
  detail::check_rank("pixel_unshuffle", x, 4, site);
  const auto n = x.dim(0), c = x.dim(1), height = x.dim(2), width = x.dim(3), r = downscale_factor;
  check_divides("pixel_unshuffle", r, height, "height", x, site);
  check_divides("pixel_unshuffle", r, width, "width", x, site);
  const auto h = height / r, w = width / r;
  const Value parts = client::permute(client::reshape(x, {n, c, h, r, w, r}, site), {0, 1, 3, 5, 2, 4}, site);
  return client::reshape(parts, {n, c * r * r, h, w}, site);
}

Unfold4d Unfold4dConfig::init() const {
  return {.kernel_size = kernel_size, .options = windows_of("Unfold4dConfig", *this)};
}
Fold4d Fold4dConfig::init() const {
  detail::check_at_least("Fold4dConfig", "output_size", output_size, 1);
  return {.output_size = output_size, .kernel_size = kernel_size, .options = windows_of("Fold4dConfig", *this)};
}

Value Unfold4d::apply(const Value& x, const Site& site) const {
  detail::check_rank("unfold4d", x, 4, site);
  return client::unfold4d(x, ir::Dims{std::span{kernel_size}}, options, site);
}
Value Fold4d::apply(const Value& x, const Site& site) const {
  detail::check_rank("fold4d", x, 3, site);
  return client::fold4d(x, ir::Dims{std::span{output_size}}, ir::Dims{std::span{kernel_size}}, options, site);
}

}  // namespace burn::nn
