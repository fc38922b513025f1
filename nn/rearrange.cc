#include "nn/rearrange.h"

#include "client/fail.h"
#include "nn/checks.h"
#include "nn/functional/sampling.h"

namespace burn::nn {
namespace {

using client::Value;

// Errors: sizes that `factor` does not divide. `what` must be divisible.
void check_divides(const char* op, std::int64_t factor, std::int64_t size, const char* what, const Tensor<4>& x,
                   const Loc& where) {
  if (factor >= 1 && size % factor == 0) return;
  client::fail(std::string{op} + ": " + std::to_string(factor) + " does not divide the " + what + " of " +
                   ir::to_string(x.value().type()),
               at(where));
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

Tensor<4> PixelShuffle::forward(const Tensor<4>& x, Loc where) const {
  const auto [n, channels, h, w] = x.dims(where);
  const auto r = upscale_factor;
  check_divides("pixel_shuffle", r * r, channels, "channels", x, where);
  const auto c = channels / (r * r);
  const auto site = at(where);
  const Value parts = client::permute(client::reshape(x.value(), {n, c, r, r, h, w}, site), {0, 1, 4, 2, 5, 3}, site);
  return Tensor<4>{client::reshape(parts, {n, c, h * r, w * r}, site)};
}

Tensor<4> PixelUnshuffle::forward(const Tensor<4>& x, Loc where) const {
  const auto [n, c, height, width] = x.dims(where);
  const auto r = downscale_factor;
  check_divides("pixel_unshuffle", r, height, "height", x, where);
  check_divides("pixel_unshuffle", r, width, "width", x, where);
  const auto h = height / r, w = width / r;
  const auto site = at(where);
  const Value parts = client::permute(client::reshape(x.value(), {n, c, h, r, w, r}, site), {0, 1, 3, 5, 2, 4}, site);
  return Tensor<4>{client::reshape(parts, {n, c * r * r, h, w}, site)};
}

Unfold4d Unfold4dConfig::init() const {
  return {.kernel_size = kernel_size, .options = windows_of("Unfold4dConfig", *this)};
}
Fold4d Fold4dConfig::init() const {
  detail::check_at_least("Fold4dConfig", "output_size", output_size, 1);
  return {.output_size = output_size, .kernel_size = kernel_size, .options = windows_of("Fold4dConfig", *this)};
}

Tensor<3> Unfold4d::forward(const Tensor<4>& x, Loc where) const {
  return module::unfold4d(x, kernel_size, options, where);
}
Tensor<4> Fold4d::forward(const Tensor<3>& x, Loc where) const {
  return module::fold4d(x, output_size, kernel_size, options, where);
}

}  // namespace burn::nn
