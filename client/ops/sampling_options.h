// Options for resizing, sampling and unfolding images, in a small header without the functions.
#pragma once

#include <array>
#include <cstdint>

#include "ir/semantics/interpolate_mode.h"

namespace burn {

using ir::InterpolateMode;

struct InterpolateOptions {
  InterpolateMode mode = InterpolateMode::nearest;
  // true: the centres of the corner pixels are aligned; false: the outer edges of the image are, pixels being squares.
  // The nearest modes ignore it. PyTorch's default is false.
  bool align_corners = true;
};

// The values outside of the image: zeros; the nearest border pixel; the mirrored image.
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
