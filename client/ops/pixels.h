// Reading images at places that are not pixels: what grid sampling and deformable convolution share. For .cc files.
#pragma once

#include "client/ops/formula.h"
#include "client/ops/sampling_options.h"

namespace burn::client {

// One of the two dims of an image.
struct PixelLine {
  std::int64_t size;
  GridSamplePaddingMode padding;
  bool align_corners;

  // From -1 .. 1 to the numbers of pixels.
  Value from_grid(const Value& g) const;
  // Back into the image, or, where outside counts as 0, to no further than two pixels from it: what is infinite or not
  // a number would spoil the weights of pixels that do not count.
  Value inside(const Value& at) const;

 private:
  Value reflected(const Value& at) const;
};

// The planes' elements at (y, x), whole numbers; 0 outside. planes: [m, c, h * w], y and x: [m, 1, count] -> [m, c,
// count].
Value at_pixels(const Value& planes, std::int64_t h, std::int64_t w, const Value& y, const Value& x);
// The same between the pixels, linear in both directions.
Value between_pixels(const Value& planes, std::int64_t h, std::int64_t w, const Value& y, const Value& x);

}  // namespace burn::client
