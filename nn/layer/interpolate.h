// Resizing of images and lines, to a size or by a factor. Modules without parameters.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "client/ops/sampling_options.h"
#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

struct Interpolate1d {
  std::optional<std::array<std::int64_t, 1>> output_size{};  // exactly one of size and factor is set
  std::optional<std::array<double, 1>> scale_factor{};
  InterpolateOptions options{};
  BURN_MODULE(Interpolate1d)

  // Shapes: [batch, channel, length] -> [batch, channel, output_size], or length * scale_factor, rounded down. Errors:
  // a size below 1.
  BURN_FORWARD_RANK("interpolate1d", 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Interpolate1dConfig {
  std::optional<std::int64_t> output_size{};
  std::optional<double> scale_factor{};
  std::string mode = "nearest";  // or "nearest_exact", "linear", "cubic", "lanczos"
  bool align_corners = true;
  BURN_CONFIG(Interpolate1dConfig, output_size, scale_factor, mode, align_corners)

  // Errors: neither or both of size and factor; a size or factor that is not positive; an unknown mode.
  Interpolate1d init() const;
};

struct Interpolate2d {
  std::optional<std::array<std::int64_t, 2>> output_size{};
  std::optional<std::array<double, 2>> scale_factor{};
  InterpolateOptions options{};
  BURN_MODULE(Interpolate2d)

  // Shapes: [batch, channel, height, width] -> [batch, channel, ...]. As Interpolate1d.
  BURN_FORWARD_RANK("interpolate", 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Interpolate2dConfig {
  std::optional<std::array<std::int64_t, 2>> output_size{};  // height, width
  std::optional<std::array<double, 2>> scale_factor{};
  std::string mode = "nearest";
  bool align_corners = true;
  BURN_CONFIG(Interpolate2dConfig, output_size, scale_factor, mode, align_corners)

  Interpolate2d init() const;  // Errors: as Interpolate1dConfig.
};

}  // namespace burn::nn
