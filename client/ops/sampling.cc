#include "client/ops/sampling.h"

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/pixels.h"

namespace burn::client {
namespace {

void check_sample(const Value& x, const Value& grid, const GridSampleOptions& options, const Site& site) {
  fail_if_empty(x, "grid_sample_2d: the image", site);
  fail_if_empty(grid, "grid_sample_2d: the grid", site);
  const bool fits = x.rank() == 4 && grid.rank() == 4 && grid.dim(3) == 2 && grid.dim(0) == x.dim(0);
  if (!fits || !ir::is_floating(x.dtype()) || !ir::is_floating(grid.dtype())) {
    fail("grid_sample_2d: image " + ir::to_string(x.type()) + " and grid " + ir::to_string(grid.type()) +
             " are not [n, c, h, w] and [n, h_out, w_out, 2] of floats",
         site);
  }
  if (x.dim(2) < 1 || x.dim(3) < 1)
    fail("grid_sample_2d: the image " + ir::to_string(x.type()) + " has no pixels", site);
  if (options.mode != InterpolateMode::bilinear && options.mode != InterpolateMode::nearest)
    fail("grid_sample_2d: the mode must be nearest or bilinear", site);
}

}  // namespace

Value interpolate(const Value& x, const ir::Dims& output_size, const InterpolateOptions& options, const Site& site) {
  return apply(ir::Interpolate{output_size, options.mode, options.align_corners}, x, site);
}

Value grid_sample_2d(const Value& x, const Value& grid, const GridSampleOptions& options, const Site& site) {
  check_sample(x, grid, options, site);
  const auto n = x.dim(0), c = x.dim(1), h = x.dim(2), w = x.dim(3), rows = grid.dim(1), columns = grid.dim(2);
  return in_compute_dtype(x, site, [&](const Value& image) {
    const Value places = cast(grid, image.dtype(), site);
    const auto along = [&](std::int64_t which, std::int64_t size) {
      const Value g = reshape(narrow(places, 3, which, 1, site), {n, 1, rows * columns}, site);
      const PixelAxis line{size, options.padding_mode, options.align_corners};
      return line.inside(line.from_grid(g));
    };
    const Value planes = reshape(image, {n, c, h * w}, site);
    const Value at_x = along(0, w), at_y = along(1, h);
    const Value values = options.mode == InterpolateMode::nearest ? at_pixels(planes, h, w, round(at_y), round(at_x))
                                                                  : between_pixels(planes, h, w, at_y, at_x);
    return reshape(values, {n, c, rows, columns}, site);
  });
}

Value affine_grid_2d(const Value& transform, const ir::Dims& dims, const Site& site) {
  fail_if_empty(transform, "affine_grid_2d", site);
  if (transform.rank() != 3 || transform.dim(1) != 2 || transform.dim(2) != 3 || dims.rank() != 4 ||
      dims[0] != transform.dim(0) || dims[2] < 0 || dims[3] < 0 || !ir::is_floating(transform.dtype())) {
    fail("affine_grid_2d: " + ir::to_string(transform.type()) + " is not one float [2, 3] map for each image of " +
             ir::to_string(dims),
         site);
  }
  const auto n = dims[0], h = dims[2], w = dims[3];
  return in_compute_dtype(transform, site, [&](const Value& map) {
    const auto from_minus_one = [&](std::int64_t size, const ir::Shape& shape) {
      const Value numbers = arange(place_of(map), 0, size, 1, map.dtype(), site);
      const Value line = size > 1 ? numbers * (2.0 / static_cast<double>(size - 1)) - 1.0 : numbers;
      return reshape(line, shape, site);
    };
    const auto entry = [&](std::int64_t column) {  // x's and y's: [n, 1, 1, 2]
      return reshape(narrow(map, 2, column, 1, site), {n, 1, 1, 2}, site);
    };
    const Value x = from_minus_one(w, {1, 1, w, 1}), y = from_minus_one(h, {1, h, 1, 1});
    return x * entry(0) + (y * entry(1) + entry(2));
  });
}

}  // namespace burn::client
