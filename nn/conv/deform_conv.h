// Deformable convolution (Dai et al., arXiv:1703.06211; with a mask Zhu et al., arXiv:1811.11168).
#pragma once

#include <array>
#include <optional>

#include "nn/conv/padding.h"
#include "nn/module/forward.h"
#include "nn/module/initializer.h"
#include "nn/module/module.h"

namespace burn::nn {

// A convolution whose taps read the image at positions shifted by `offset`, interpolating between pixels.
struct DeformConv2d {
  Param<4> weight;                 // [channel_out, channel_in / weight_groups, kernel...]
  std::optional<Param<1>> bias{};  // [channel_out]
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1};
  std::int64_t weight_groups = 1, offset_groups = 1;
  PaddingConfig2d padding{};
  BURN_MODULE(DeformConv2d, weight, bias)

  // Shapes: x [batch, channel_in, height, width], offset [batch, offset_groups * kernel elements * 2, height_out,
  // width_out] (y, then x, of each tap), mask [batch, offset_groups * kernel elements, height_out, width_out] ->
  // [batch, channel_out, height_out, width_out]. Errors: other channels or sizes; a padding that differs at both ends.
  BURN_FORWARD(nullptr, (), Tensor<4>,
               (const Tensor<4>& x, const Tensor<4>& offset, const std::optional<Tensor<4>>& mask = std::nullopt),
               (x.value(), offset.value(), mask ? &mask->value() : nullptr))
  // `mask` may be null.
  client::Value apply(const client::Value& x, const client::Value& offset, const client::Value* mask,
                      const client::Site& site) const;
};

struct DeformConv2dConfig {
  std::array<std::int64_t, 2> channels{};     // in, out
  std::array<std::int64_t, 2> kernel_size{};  // height, width
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1};
  std::int64_t weight_groups = 1, offset_groups = 1;
  PaddingConfig2d padding{};
  bool bias = true;
  Initializer initializer = default_initializer();
  BURN_CONFIG(DeformConv2dConfig, channels, kernel_size, stride, dilation, weight_groups, offset_groups, padding, bias,
              initializer)

  // Errors: a size below 1; channels that the groups do not divide; an invalid padding.
  DeformConv2d init(const Device& device) const;
};

}  // namespace burn::nn
