// Modules that rearrange pixels: between channels and space, between images and columns of windows. Without parameters.
#pragma once

#include <array>

#include "client/ops/sampling_options.h"
#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// Channels become pixels (Shi et al., arXiv:1609.05158): with r the factor, pixel (h r + i, w r + j) of channel c is
// channel c r^2 + i r + j at (h, w).
struct PixelShuffle {
  std::int64_t upscale_factor = 1;
  BURN_MODULE(PixelShuffle)

  // Shapes: [batch, channel * r^2, height, width] -> [batch, channel, height * r, width * r]. Errors: channels that r^2
  // does not divide.
  BURN_FORWARD_RANK(nullptr, 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct PixelShuffleConfig {
  std::int64_t upscale_factor = 1;
  BURN_CONFIG(PixelShuffleConfig, upscale_factor)

  PixelShuffle init() const;  // Errors: a factor below 1.
};

// The inverse of PixelShuffle.
struct PixelUnshuffle {
  std::int64_t downscale_factor = 1;
  BURN_MODULE(PixelUnshuffle)

  // Shapes: [batch, channel, height * r, width * r] -> [batch, channel * r^2, height, width]. Errors: sizes that r does
  // not divide.
  BURN_FORWARD_RANK(nullptr, 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct PixelUnshuffleConfig {
  std::int64_t downscale_factor = 1;
  BURN_CONFIG(PixelUnshuffleConfig, downscale_factor)

  PixelUnshuffle init() const;  // Errors: a factor below 1.
};

// Copies each window of an image into a column; elements outside the image are 0.
struct Unfold4d {
  std::array<std::int64_t, 2> kernel_size{1, 1};
  UnfoldOptions options{};
  BURN_MODULE(Unfold4d)

  // Shapes: [batch, channel, height, width] -> [batch, channel * kernel elements, windows]. Errors: a window that does
  // not fit.
  BURN_FORWARD_RANK("unfold4d", 4, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Unfold4dConfig {
  std::array<std::int64_t, 2> kernel_size{};  // height, width
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1}, padding{0, 0};
  BURN_CONFIG(Unfold4dConfig, kernel_size, stride, dilation, padding)

  Unfold4d init() const;  // Errors: a size below 1, a negative padding.
};

// The adjoint of Unfold4d: adds up the columns into an image; overlaps are summed.
struct Fold4d {
  std::array<std::int64_t, 2> output_size{1, 1}, kernel_size{1, 1};
  UnfoldOptions options{};
  BURN_MODULE(Fold4d)

  // Shapes: [batch, channel * kernel elements, windows] -> [batch, channel, output_size...]. Errors: other numbers of
  // rows or windows than such an image has.
  BURN_FORWARD_RANK("fold4d", 3, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Fold4dConfig {
  std::array<std::int64_t, 2> output_size{}, kernel_size{};  // height, width
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1}, padding{0, 0};
  BURN_CONFIG(Fold4dConfig, output_size, kernel_size, stride, dilation, padding)

  Fold4d init() const;  // Errors: as Unfold4dConfig.
};

}  // namespace burn::nn
