// Reading images at positions between pixels, for grid sampling and deformable convolution. For .cc files.
#pragma once

#include "client/ops/formula.h"
#include "client/ops/sampling_options.h"

namespace burn::client {

// One of the two dims of an image.
struct PixelAxis {
  std::int64_t size;
  GridSamplePaddingMode padding;
  bool align_corners;

  // Maps grid coordinates in [-1, 1] to pixel coordinates.
  Value from_grid(const Value& g) const;
  // Moves coordinates into the image by the padding mode. With zeros padding: to within two pixels of it, as infinity
  // or NaN would make the weights of the outside pixels NaN.
  Value inside(const Value& at) const;

 private:
  Value reflected(const Value& at) const;
};

// The planes' elements at the whole-numbered coordinates (y, x); 0 outside. planes: [m, c, h * w], y and x: [m, 1,
// count] -> [m, c, count].
Value at_pixels(const Value& planes, std::int64_t h, std::int64_t w, const Value& y, const Value& x);
// The same at any coordinates, by bilinear interpolation.
Value between_pixels(const Value& planes, std::int64_t h, std::int64_t w, const Value& y, const Value& x);

}  // namespace burn::client
