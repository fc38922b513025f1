// Pooling: the largest element or the mean of each window. Modules without parameters; each holds its settings.
#pragma once

#include <array>
#include <optional>

#include "nn/conv/padding.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// Padding is never the maximum. ceil_mode keeps a last partial window that starts inside the input or the padding
// before it.
struct MaxPool1d {
  std::array<std::int64_t, 1> kernel_size{1}, stride{1}, dilation{1};
  PaddingConfig1d padding{};
  bool ceil_mode = false;
  BURN_MODULE(MaxPool1d)

  // Shapes: [batch, channel, length] -> [batch, channel, length_out]. Errors: a window that does not fit the padded
  // input.
  BURN_FORWARD_RANK("max_pool1d", 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct MaxPool1dConfig {
  std::int64_t kernel_size = 0;
  std::optional<std::int64_t> stride{};  // the kernel's size
  std::int64_t dilation = 1;
  PaddingConfig1d padding{};
  bool ceil_mode = false;
  BURN_CONFIG(MaxPool1dConfig, kernel_size, stride, dilation, padding, ceil_mode)

  MaxPool1d init() const;  // Errors: a size below 1; an invalid padding.
};

struct MaxPool2d {
  std::array<std::int64_t, 2> kernel_size{1, 1}, stride{1, 1}, dilation{1, 1};
  PaddingConfig2d padding{};
  bool ceil_mode = false;
  BURN_MODULE(MaxPool2d)

  // Shapes: [batch, channel, height, width] -> [batch, channel, height_out, width_out]. Errors: as MaxPool1d.
  BURN_FORWARD_RANK("max_pool2d", 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct MaxPool2dConfig {
  std::array<std::int64_t, 2> kernel_size{};             // height, width
  std::optional<std::array<std::int64_t, 2>> strides{};  // the kernel's size
  std::array<std::int64_t, 2> dilation{1, 1};
  PaddingConfig2d padding{};
  bool ceil_mode = false;
  BURN_CONFIG(MaxPool2dConfig, kernel_size, strides, dilation, padding, ceil_mode)

  MaxPool2d init() const;  // Errors: as MaxPool1dConfig.
};

struct MaxPool3d {
  std::array<std::int64_t, 3> kernel_size{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  PaddingConfig3d padding{};
  bool ceil_mode = false;
  BURN_MODULE(MaxPool3d)

  // Shapes: [batch, channel, depth, height, width] -> [batch, channel, ...]. Errors: as MaxPool1d.
  BURN_FORWARD_RANK("max_pool3d", 5, 5)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct MaxPool3dConfig {
  std::array<std::int64_t, 3> kernel_size{};             // depth, height, width
  std::optional<std::array<std::int64_t, 3>> strides{};  // the kernel's size
  std::array<std::int64_t, 3> dilation{1, 1, 1};
  PaddingConfig3d padding{};
  bool ceil_mode = false;
  BURN_CONFIG(MaxPool3dConfig, kernel_size, strides, dilation, padding, ceil_mode)

  MaxPool3d init() const;  // Errors: as MaxPool1dConfig.
};

// With count_include_pad, padding counts as zeros; without, the mean is over the window's elements inside the input.
struct AvgPool1d {
  std::array<std::int64_t, 1> kernel_size{1}, stride{1};
  PaddingConfig1d padding{};
  bool count_include_pad = true, ceil_mode = false;
  BURN_MODULE(AvgPool1d)

  // Shapes and errors: as MaxPool1d.
  BURN_FORWARD_RANK("avg_pool1d", 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct AvgPool1dConfig {
  std::int64_t kernel_size = 0;
  std::optional<std::int64_t> stride{};  // the kernel's size
  PaddingConfig1d padding{};
  bool count_include_pad = true, ceil_mode = false;
  BURN_CONFIG(AvgPool1dConfig, kernel_size, stride, padding, count_include_pad, ceil_mode)

  AvgPool1d init() const;  // Errors: as MaxPool1dConfig.
};

struct AvgPool2d {
  std::array<std::int64_t, 2> kernel_size{1, 1}, stride{1, 1};
  PaddingConfig2d padding{};
  bool count_include_pad = true, ceil_mode = false;
  BURN_MODULE(AvgPool2d)

  // Shapes and errors: as MaxPool2d.
  BURN_FORWARD_RANK("avg_pool2d", 4, 4)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct AvgPool2dConfig {
  std::array<std::int64_t, 2> kernel_size{};             // height, width
  std::optional<std::array<std::int64_t, 2>> strides{};  // the kernel's size
  PaddingConfig2d padding{};
  bool count_include_pad = true, ceil_mode = false;
  BURN_CONFIG(AvgPool2dConfig, kernel_size, strides, padding, count_include_pad, ceil_mode)

  AvgPool2d init() const;  // Errors: as MaxPool1dConfig.
};

struct AvgPool3d {
  std::array<std::int64_t, 3> kernel_size{1, 1, 1}, stride{1, 1, 1};
  PaddingConfig3d padding{};
  bool count_include_pad = true, ceil_mode = false;
  BURN_MODULE(AvgPool3d)

  // Shapes and errors: as MaxPool3d.
  BURN_FORWARD_RANK("avg_pool3d", 5, 5)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct AvgPool3dConfig {
  std::array<std::int64_t, 3> kernel_size{};             // depth, height, width
  std::optional<std::array<std::int64_t, 3>> strides{};  // the kernel's size
  PaddingConfig3d padding{};
  bool count_include_pad = true, ceil_mode = false;
  BURN_CONFIG(AvgPool3dConfig, kernel_size, strides, padding, count_include_pad, ceil_mode)

  AvgPool3d init() const;  // Errors: as MaxPool1dConfig.
};

}  // namespace burn::nn
