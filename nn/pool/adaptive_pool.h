// Average pooling to a size: output i is the mean of the elements floor(i in / out) .. ceil((i + 1) in / out).
#pragma once

#include <array>

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

struct AdaptiveAvgPool1d {
  std::array<std::int64_t, 1> output_size{1};
  BURN_MODULE(AdaptiveAvgPool1d)

  // Shapes: [batch, channel, length] -> [batch, channel, output_size].
  BURN_FORWARD_RANK("adaptive_avg_pool1d", 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct AdaptiveAvgPool1dConfig {
  std::int64_t output_size = 0;
  BURN_CONFIG(AdaptiveAvgPool1dConfig, output_size)

  AdaptiveAvgPool1d init() const;  // Errors: a size below 1.
};

struct AdaptiveAvgPool2d {
  std::array<std::int64_t, 2> output_size{1, 1};
  BURN_MODULE(AdaptiveAvgPool2d)

  // Shapes: [batch, channel, height, width] -> [batch, channel, output_size...].
  BURN_FORWARD_RANK("adaptive_avg_pool2d", 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct AdaptiveAvgPool2dConfig {
  std::array<std::int64_t, 2> output_size{};  // height, width
  BURN_CONFIG(AdaptiveAvgPool2dConfig, output_size)

  AdaptiveAvgPool2d init() const;  // Errors: a size below 1.
};

struct AdaptiveAvgPool3d {
  std::array<std::int64_t, 3> output_size{1, 1, 1};
  BURN_MODULE(AdaptiveAvgPool3d)

  // Shapes: [batch, channel, depth, height, width] -> [batch, channel, output_size...].
  BURN_FORWARD_RANK("adaptive_avg_pool3d", 5, 5)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct AdaptiveAvgPool3dConfig {
  std::array<std::int64_t, 3> output_size{};  // depth, height, width
  BURN_CONFIG(AdaptiveAvgPool3dConfig, output_size)

  AdaptiveAvgPool3d init() const;  // Errors: a size below 1.
};

}  // namespace burn::nn
