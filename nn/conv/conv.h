// Convolutions over one, two or three spatial dims (cross-correlations, as everywhere in deep learning).
#pragma once

#include <array>
#include <optional>

#include "nn/conv/padding.h"
#include "nn/module/forward.h"
#include "nn/module/initializer.h"
#include "nn/module/module.h"

namespace burn::nn {

struct Conv1d {
  Param<3> weight;                 // [channel_out, channel_in / groups, kernel]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 1> stride{1}, dilation{1};
  std::int64_t groups = 1;
  PaddingConfig1d padding{};
  BURN_MODULE(Conv1d, weight, bias)

  // Shapes: [batch, channel_in, length] -> [batch, channel_out, length_out].
  // Errors: other channels; a kernel that does not fit the padded input.
  BURN_FORWARD_RANK("conv1d", 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Conv1dConfig {
  std::int64_t channels_in = 0, channels_out = 0, kernel_size = 0;
  std::int64_t stride = 1, dilation = 1, groups = 1;
  PaddingConfig1d padding{};
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(Conv1dConfig, channels_in, channels_out, kernel_size, stride, dilation, groups, padding, bias,
              initializer)

  // Errors: a size below 1; channels that the groups do not divide; an invalid padding.
  Conv1d init(const Device& device) const;
};

struct Conv2d {
  Param<4> weight;                 // [channel_out, channel_in / groups, kernel...]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1};
  std::int64_t groups = 1;
  PaddingConfig2d padding{};
  BURN_MODULE(Conv2d, weight, bias)

  // Shapes: [batch, channel_in, height, width] -> [batch, channel_out, height_out, width_out]. Errors: as Conv1d.
  BURN_FORWARD_RANK("conv2d", 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Conv2dConfig {
  std::array<std::int64_t, 2> channels{};     // in, out
  std::array<std::int64_t, 2> kernel_size{};  // height, width
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1};
  std::int64_t groups = 1;
  PaddingConfig2d padding{};
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(Conv2dConfig, channels, kernel_size, stride, dilation, groups, padding, bias, initializer)

  Conv2d init(const Device& device) const;  // Errors: as Conv1dConfig.
};

struct Conv3d {
  Param<5> weight;                 // [channel_out, channel_in / groups, kernel...]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1};
  std::int64_t groups = 1;
  PaddingConfig3d padding{};
  BURN_MODULE(Conv3d, weight, bias)

  // Shapes: [batch, channel_in, depth, height, width] -> [batch, channel_out, ...]. Errors: as Conv1d.
  BURN_FORWARD_RANK("conv3d", 5, 5)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct Conv3dConfig {
  std::array<std::int64_t, 2> channels{};     // in, out
  std::array<std::int64_t, 3> kernel_size{};  // depth, height, width
  std::array<std::int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1};
  std::int64_t groups = 1;
  PaddingConfig3d padding{};
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(Conv3dConfig, channels, kernel_size, stride, dilation, groups, padding, bias, initializer)

  Conv3d init(const Device& device) const;  // Errors: as Conv1dConfig.
};

}  // namespace burn::nn
