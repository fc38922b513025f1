// How images are resized, sampled and unfolded: the options alone, for headers that many include.
#pragma once

#include <array>
#include <cstdint>

#include "ir/semantics/interpolate_mode.h"

namespace burn {

using ir::InterpolateMode;

struct InterpolateOptions {
  InterpolateMode mode = InterpolateMode::nearest;
  // The corner pixels stay corners; otherwise pixels are squares, of which the image's border is the outer edge. The
  // nearest modes ignore it. PyTorch's default is false.
  bool align_corners = true;
};

// What lies outside the image: zeros; its border pixel; the image mirrored there.
enum class GridSamplePaddingMode : std::uint8_t { zeros, border, reflection };

struct GridSampleOptions {
  InterpolateMode mode = InterpolateMode::bilinear;  // or nearest
  GridSamplePaddingMode padding_mode = GridSamplePaddingMode::zeros;
  bool align_corners = false;  // -1 and 1 are the centres of the corner pixels, not their outer edges
};

// Windows over an image (height, width).
struct UnfoldOptions {
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
};

struct DeformConvOptions {
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t weight_groups = 1, offset_groups = 1;
};

}  // namespace burn
