// Transposed convolutions: the adjoint of a convolution in its input, used to make images larger.
#pragma once

#include <array>
#include <optional>

#include "nn/module/forward.h"
#include "nn/module/initializer.h"
#include "nn/module/module.h"

namespace burn::nn {

// Along each spatial dim, size_out = (size - 1) stride - 2 padding + dilation (kernel - 1) + padding_out + 1.
struct ConvTranspose1d {
  Param<3> weight;                 // [channel_in, channel_out / groups, kernel]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 1> stride{1}, dilation{1}, padding{}, padding_out{};
  std::int64_t groups = 1;
  BURN_MODULE(ConvTranspose1d, weight, bias)

  // Shapes: [batch, channel_in, length] -> [batch, channel_out, length_out]. Errors: other channels.
  BURN_FORWARD_RANK("conv_transpose1d", 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct ConvTranspose1dConfig {
  std::array<std::int64_t, 2> channels{};  // in, out
  std::int64_t kernel_size = 0;
  std::int64_t stride = 1, dilation = 1, groups = 1;
  std::int64_t padding = 0;      // removed from both ends of the result
  std::int64_t padding_out = 0;  // added to the end of the result; less than stride or dilation
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(ConvTranspose1dConfig, channels, kernel_size, stride, dilation, groups, padding, padding_out, bias,
              initializer)

  // Errors: a size below 1, a padding below 0; channels that the groups do not divide; padding_out too large.
  ConvTranspose1d init(const Device& device) const;
};

struct ConvTranspose2d {
  Param<4> weight;                 // [channel_in, channel_out / groups, kernel...]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1}, padding{}, padding_out{};
  std::int64_t groups = 1;
  BURN_MODULE(ConvTranspose2d, weight, bias)

  // Shapes: [batch, channel_in, height, width] -> [batch, channel_out, height_out, width_out]. Errors: other channels.
  BURN_FORWARD_RANK("conv_transpose2d", 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct ConvTranspose2dConfig {
  std::array<std::int64_t, 2> channels{};     // in, out
  std::array<std::int64_t, 2> kernel_size{};  // height, width
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1}, padding{}, padding_out{};
  std::int64_t groups = 1;
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(ConvTranspose2dConfig, channels, kernel_size, stride, dilation, padding, padding_out, groups, bias,
              initializer)

  ConvTranspose2d init(const Device& device) const;  // Errors: as ConvTranspose1dConfig.
};

struct ConvTranspose3d {
  Param<5> weight;                 // [channel_in, channel_out / groups, kernel...]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1}, padding{}, padding_out{};
  std::int64_t groups = 1;
  BURN_MODULE(ConvTranspose3d, weight, bias)

  // Shapes: [batch, channel_in, depth, height, width] -> [batch, channel_out, ...]. Errors: other channels.
  BURN_FORWARD_RANK("conv_transpose3d", 5, 5)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct ConvTranspose3dConfig {
  std::array<std::int64_t, 2> channels{};     // in, out
  std::array<std::int64_t, 3> kernel_size{};  // depth, height, width
  std::array<std::int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1}, padding{}, padding_out{};
  std::int64_t groups = 1;
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(ConvTranspose3dConfig, channels, kernel_size, stride, dilation, padding, padding_out, groups, bias,
              initializer)

  ConvTranspose3d init(const Device& device) const;  // Errors: as ConvTranspose1dConfig.
};

}  // namespace burn::nn
