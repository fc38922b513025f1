// Pooling to a size by maxima: output i is the largest of the elements floor(i in / out) .. ceil((i + 1) in / out).
#pragma once

#include <array>

#include "nn/config.h"
#include "nn/module.h"

namespace burn::nn {

struct AdaptiveMaxPool1d {
  std::array<std::int64_t, 1> output_size{1};
  BURN_MODULE(AdaptiveMaxPool1d)

  // Shapes: [batch, channel, length] -> [batch, channel, output_size].
  Tensor<3> forward(const Tensor<3>& x, Loc where = Loc::current()) const;
  Tensor<3> operator()(const Tensor<3>& x, Loc where = Loc::current()) const { return forward(x, where); }
};

struct AdaptiveMaxPool1dConfig {
  std::int64_t output_size = 0;
  BURN_CONFIG(AdaptiveMaxPool1dConfig, output_size)

  AdaptiveMaxPool1d init() const;  // Errors: a size below 1.
};

struct AdaptiveMaxPool2d {
  std::array<std::int64_t, 2> output_size{1, 1};
  BURN_MODULE(AdaptiveMaxPool2d)

  // Shapes: [batch, channel, height, width] -> [batch, channel, output_size...].
  Tensor<4> forward(const Tensor<4>& x, Loc where = Loc::current()) const;
  Tensor<4> operator()(const Tensor<4>& x, Loc where = Loc::current()) const { return forward(x, where); }
};

struct AdaptiveMaxPool2dConfig {
  std::array<std::int64_t, 2> output_size{};  // height, width
  BURN_CONFIG(AdaptiveMaxPool2dConfig, output_size)

  AdaptiveMaxPool2d init() const;  // Errors: a size below 1.
};

struct AdaptiveMaxPool3d {
  std::array<std::int64_t, 3> output_size{1, 1, 1};
  BURN_MODULE(AdaptiveMaxPool3d)

  // Shapes: [batch, channel, depth, height, width] -> [batch, channel, output_size...].
  Tensor<5> forward(const Tensor<5>& x, Loc where = Loc::current()) const;
  Tensor<5> operator()(const Tensor<5>& x, Loc where = Loc::current()) const { return forward(x, where); }
};

struct AdaptiveMaxPool3dConfig {
  std::array<std::int64_t, 3> output_size{};  // depth, height, width
  BURN_CONFIG(AdaptiveMaxPool3dConfig, output_size)

  AdaptiveMaxPool3d init() const;  // Errors: a size below 1.
};

}  // namespace burn::nn
