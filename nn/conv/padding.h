// The padding of a convolution's or pooling's input: none, as much as keeps the size, or explicit numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "ir/types/shape.h"
#include "nn/module/config.h"

namespace burn::nn {

// A value that is also a configuration: {"kind": "explicit", "begin": [1, 1], "end": [2, 2]}.
template <int N>
struct PaddingConfig {
  std::string kind = "valid";           // "valid", "same" or "explicit"
  std::array<std::int64_t, N> begin{};  // explicit: before the first element of each spatial dim (left; top, left)
  std::array<std::int64_t, N> end{};    // explicit: after the last (right; bottom, right)
  BURN_CONFIG(PaddingConfig, kind, begin, end)

  static PaddingConfig valid() { return {}; }  // none
  // Pads so that the output has size ceil(input / stride); an odd total has the larger half at the end.
  static PaddingConfig same() { return {.kind = "same"}; }
  static PaddingConfig explicit_(const std::array<std::int64_t, N>& both) { return explicit_(both, both); }
  static PaddingConfig explicit_(const std::array<std::int64_t, N>& begin, const std::array<std::int64_t, N>& end) {
    return {.kind = "explicit", .begin = begin, .end = end};
  }
  friend bool operator==(const PaddingConfig&, const PaddingConfig&) = default;
};
using PaddingConfig1d = PaddingConfig<1>;
using PaddingConfig2d = PaddingConfig<2>;
using PaddingConfig3d = PaddingConfig<3>;

namespace detail {

// The sliding windows of a layer, one entry per spatial dim.
struct Windows {
  std::span<const std::int64_t> kernel, stride, dilation;
};

struct Padding {
  ir::Dims begin, end;
  bool is_symmetric() const { return begin == end; }
};

// Throws unless the kind is known and no number is negative.
void check_padding(const char* config, const std::string& kind, std::span<const std::int64_t> begin,
                   std::span<const std::int64_t> end);
// Requires: check_padding() has passed. `x`: [batch, channel, spatial...].
Padding resolve_padding(const std::string& kind, std::span<const std::int64_t> begin, std::span<const std::int64_t> end,
                        const ir::Shape& x, const Windows& windows);

}  // namespace detail
}  // namespace burn::nn
