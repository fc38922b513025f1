// Windows of images as columns, and deformable convolution.
#include <array>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/pixels.h"
#include "client/ops/sampling.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

// The parameters of all windows over an image.
struct WindowGrid {
  const char* op;
  std::int64_t kernel[2], stride[2], padding[2], dilation[2], counts[2];

  // Errors: a number out of range, a window that does not fit; the message has all parameters of the dim.
  template <typename Options>
  WindowGrid(const char* name, std::int64_t h, std::int64_t w, std::int64_t kh, std::int64_t kw, const Options& options,
             const Site& site)
      : op(name), kernel{kh, kw} {
    const std::int64_t size[] = {h, w};
    constexpr std::int64_t kMax = 1 << 30;
    for (std::size_t i = 0; i < 2; ++i) {
      stride[i] = options.stride[i], padding[i] = options.padding[i], dilation[i] = options.dilation[i];
      const auto in_range = [&](std::int64_t number, std::int64_t least) { return number >= least && number < kMax; };
      const bool ok = in_range(size[i], 0) && in_range(kernel[i], 1) && in_range(stride[i], 1) &&
                      in_range(padding[i], 0) && in_range(dilation[i], 1);
      const auto free = ok ? size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1 : -1;
      if (free < 0) {
        fail(std::string{op} + ": kernel " + std::to_string(kernel[i]) + ", stride " + std::to_string(stride[i]) +
                 ", padding " + std::to_string(padding[i]) + " and dilation " + std::to_string(dilation[i]) +
                 " do not fit size " + std::to_string(size[i]) + " of spatial dim " + std::to_string(i),
             site);
      }
      counts[i] = free / stride[i] + 1;
    }
  }
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
  std::int64_t windows() const { return counts[0] * counts[1]; }

  // The position of each tap of each window along dim `i`, in the padded image: [.., kernel, .., count, ..] of [kh, kw,
  // h_out, w_out].
  Value places(const Place& place, std::size_t i, ir::DType dtype, const Site& site) const {
    const auto line = [&](std::int64_t count, std::int64_t step, std::size_t dim) {
      ir::Shape shape{1, 1, 1, 1};
      shape[static_cast<int>(dim)] = count;
      return reshape(
          pointwise(Fn::mul, arange(place, 0, count, 1, dtype, site), constant(place, step, dtype, site), site), shape,
          site);
    };
    return pointwise(Fn::add, line(kernel[i], dilation[i], i), line(counts[i], stride[i], i + 2), site);
  }
  // The positions of all taps as an index into the flattened padded image of width `width`: [taps * windows].
  Value index(const Place& place, std::int64_t width, const Site& site) const {
    constexpr auto i64 = ir::DType::i64;
    const Value rows = pointwise(Fn::mul, places(place, 0, i64, site), constant(place, width, i64, site), site);
    return reshape(pointwise(Fn::add, rows, places(place, 1, i64, site), site), {taps() * windows()}, site);
  }
};

ir::Dims pair_of(const ir::Dims& dims, const char* op, const char* what, const Site& site) {
  if (dims.rank() != 2)
    fail(std::string{op} + ": " + what + " " + ir::to_string(dims) + " is not [height, width]", site);
  return dims;
}

}  // namespace

Value unfold4d(const Value& x, const ir::Dims& kernel, const UnfoldOptions& options, const Site& site) {
  fail_if_empty(x, "unfold4d", site);
  if (x.rank() != 4) fail("unfold4d: " + ir::to_string(x.type()) + " is not [n, c, h, w]", site);
  const auto size = pair_of(kernel, "unfold4d", "kernel", site);
  const WindowGrid grid{"unfold4d", x.dim(2), x.dim(3), size[0], size[1], options, site};
  const std::pair<std::int64_t, std::int64_t> pads[] = {{grid.padding[0], grid.padding[0]},
                                                        {grid.padding[1], grid.padding[1]}};
  const bool is_padded = grid.padding[0] + grid.padding[1] > 0;
  const Value image = is_padded ? pad(x, pads, 0, site) : x;
  const auto n = x.dim(0), c = x.dim(1);
  const Value planes = reshape(image, {n, c, image.dim(2) * image.dim(3)}, site);
  const Value columns = select_rows(planes, 2, grid.index(place_of(x), image.dim(3), site), site);
  return reshape(columns, {n, c * grid.taps(), grid.windows()}, site);
}

Value fold4d(const Value& x, const ir::Dims& output_size, const ir::Dims& kernel, const UnfoldOptions& options,
             const Site& site) {
  fail_if_empty(x, "fold4d", site);
  const auto size = pair_of(output_size, "fold4d", "output size", site),
             window = pair_of(kernel, "fold4d", "kernel", site);
  const WindowGrid grid{"fold4d", size[0], size[1], window[0], window[1], options, site};
  if (x.rank() != 3 || x.dim(1) % grid.taps() != 0 || x.dim(2) != grid.windows()) {
    fail("fold4d: " + ir::to_string(x.type()) + " is not [n, c * " + std::to_string(grid.taps()) + ", " +
             std::to_string(grid.windows()) + "], the windows " + ir::to_string(window) + " of an image " +
             ir::to_string(size),
         site);
  }
  const auto n = x.dim(0), c = x.dim(1) / grid.taps();
  const auto h = size[0] + 2 * grid.padding[0], w = size[1] + 2 * grid.padding[1];
  const Value zeros = filled(place_of(x), {n, c, h * w}, 0, x.dtype(), site);
  const Value columns = reshape(x, {n, c, grid.taps() * grid.windows()}, site);
  const Value sums = select_assign(zeros, 2, grid.index(place_of(x), w, site), columns, ir::ScatterFn::add, site);
  const Value image = reshape(sums, {n, c, h, w}, site);
  return narrow(narrow(image, 2, grid.padding[0], size[0], site), 3, grid.padding[1], size[1], site);
}

namespace {

void check_deform(const Value& x, const Value& offset, const Value& weight, const Value* mask, const Value* bias,
                  const DeformConvOptions& options, const Site& site) {
  for (const auto& [value, name] : {std::pair{&x, "deform_conv2d"},
                                    {&offset, "deform_conv2d: the offset"},
                                    {&weight, "deform_conv2d: the weight"},
                                    {mask, "deform_conv2d: the mask"},
                                    {bias, "deform_conv2d: the bias"}}) {
    if (value != nullptr) fail_if_empty(*value, name, site);
  }
  const auto groups = options.weight_groups, fields = options.offset_groups;
  const auto refuse = [&](const std::string& what) {
    fail("deform_conv2d: " + what + ": input " + ir::to_string(x.type()) + ", offset " + ir::to_string(offset.type()) +
             ", weight " + ir::to_string(weight.type()) + (mask ? ", mask " + ir::to_string(mask->type()) : "") + ", " +
             std::to_string(groups) + " weight groups, " + std::to_string(fields) + " offset groups",
         site);
  };
  if (x.rank() != 4 || offset.rank() != 4 || weight.rank() != 4 || (mask && mask->rank() != 4) ||
      (bias && bias->rank() != 1))
    refuse("takes images of rank 4 and a bias of rank 1");
  if (groups < 1 || fields < 1 || x.dim(1) % groups != 0 || x.dim(1) % fields != 0 || weight.dim(0) % groups != 0 ||
      weight.dim(1) * groups != x.dim(1))
    refuse("channels do not divide into the groups");
  if (bias && bias->dim(0) != weight.dim(0)) refuse("the bias has " + std::to_string(bias->dim(0)) + " channels");
  if (!ir::is_floating(x.dtype())) refuse("takes floats");
}

}  // namespace

Value deform_conv2d(const Value& x, const Value& offset, const Value& weight, const Value* mask, const Value* bias,
                    const DeformConvOptions& options, const Site& site) {
  check_deform(x, offset, weight, mask, bias, options, site);
  const auto n = x.dim(0), c = x.dim(1), h = x.dim(2), w = x.dim(3), c_out = weight.dim(0), kh = weight.dim(2),
             kw = weight.dim(3), fields = options.offset_groups, groups = options.weight_groups;
  const WindowGrid grid{"deform_conv2d", h, w, kh, kw, options, site};
  const auto rows = grid.counts[0], columns = grid.counts[1], taps = grid.taps(), windows = grid.windows();
  const auto has_shape = [&](const Value& v, std::int64_t numbers) {
    return v.shape() == ir::Shape{n, fields * taps * numbers, rows, columns};
  };
  if (!has_shape(offset, 2) || (mask && !has_shape(*mask, 1))) {
    fail("deform_conv2d: input " + ir::to_string(x.type()) + " and weight " + ir::to_string(weight.type()) +
             " want offsets " + ir::to_string(ir::Shape{n, fields * taps * 2, rows, columns}) +
             " and a mask of half as many, got " + ir::to_string(offset.type()) +
             (mask ? " and " + ir::to_string(mask->type()) : ""),
         site);
  }
  return in_compute_dtype(x, site, [&](const Value& image) {
    const auto dtype = image.dtype();
    const auto m = n * fields;
    const Value offsets = reshape(cast(offset, dtype, site), {m, taps, 2, windows}, site);
    const auto along = [&](std::int64_t which) {
      const auto i = static_cast<std::size_t>(which);
      const Value base = unsqueeze(grid.places(place_of(x), i, dtype, site), ir::Dims{0}, site);
      const Value moved = reshape(narrow(offsets, 2, which, 1, site), {m, kh, kw, rows, columns}, site);
      const Value at = reshape(moved + (base - static_cast<double>(grid.padding[i])), {m, 1, taps * windows}, site);
      return PixelAxis{which == 0 ? h : w, GridSamplePaddingMode::zeros, false}.inside(at);
    };
    const Value planes = reshape(image, {m, c / fields, h * w}, site);
    Value read = h * w > 0 ? between_pixels(planes, h, w, along(0), along(1))
                           : filled(place_of(x), {m, c / fields, taps * windows}, 0, dtype, site);
    if (mask) read = read * reshape(cast(*mask, dtype, site), {m, 1, taps * windows}, site);
    const Value inputs = reshape(read, {n, groups, c / groups * taps, windows}, site);
    const Value filters = reshape(cast(weight, dtype, site), {1, groups, c_out / groups, c / groups * taps}, site);
    Value y = reshape(matmul(filters, inputs, site), {n, c_out, rows, columns}, site);
    if (!bias) return y;
    return pointwise(Fn::add, y, reshape(cast(*bias, y.dtype(), site), {1, c_out, 1, 1}, site), site);
  });
}

}  // namespace burn::client
