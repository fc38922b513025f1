// Code shared by the configurations of convolutions, transposed or not, of any rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>

#include "nn/module/checks.h"
#include "nn/module/initializer.h"

namespace burn::nn::detail {

template <std::size_t N>
struct ConvSizes {
  const char* config;
  std::array<std::int64_t, 2> channels;  // in, out
  std::array<std::int64_t, N> kernel, stride, dilation;
  std::int64_t groups;

  void check() const {
    check_at_least(config, "channels", channels, 1);
    check_at_least(config, "kernel_size", kernel, 1);
    check_at_least(config, "stride", stride, 1);
    check_at_least(config, "dilation", dilation, 1);
    check_at_least(config, "groups", groups, 1);
    if (channels[0] % groups != 0 || channels[1] % groups != 0) {
      reject(config, std::to_string(groups) + " groups do not divide " + std::to_string(channels[0]) + " input and " +
                         std::to_string(channels[1]) + " output channels");
    }
  }
};

// The weight [first, second / groups, kernel...] and the bias of a layer: a convolution's weight begins with the output
// channels, a transposed one's with the input channels.
template <typename Layer, std::size_t N>
void init_conv(Layer& layer, const ConvSizes<N>& sizes, bool is_transposed, bool has_bias,
               const Initializer& initializer, const Device& device) {
  const auto first = sizes.channels[is_transposed ? 0 : 1], second = sizes.channels[is_transposed ? 1 : 0];
  const auto taps = std::accumulate(sizes.kernel.begin(), sizes.kernel.end(), std::int64_t{1}, std::multiplies<>{});
  const auto fan_in = second / sizes.groups * taps, fan_out = first / sizes.groups * taps;
  std::array<std::int64_t, N + 2> shape{first, second / sizes.groups};
  std::copy(sizes.kernel.begin(), sizes.kernel.end(), shape.begin() + 2);
  layer.weight = initializer.init<static_cast<int>(N) + 2>(shape, device, fan_in, fan_out);
  if (has_bias) layer.bias = initializer.init<1>({sizes.channels[1]}, device, fan_in, fan_out);
}

}  // namespace burn::nn::detail
