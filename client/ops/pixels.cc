#include "client/ops/pixels.h"

namespace burn::client {

using Padding = GridSamplePaddingMode;

Value PixelAxis::from_grid(const Value& g) const {
  const auto n = static_cast<double>(size);
  return align_corners ? (g + 1.0) * ((n - 1) / 2) : (g + 1.0) * (n / 2) - 0.5;
}

Value PixelAxis::inside(const Value& at) const {
  const auto last = static_cast<double>(size - 1);
  if (padding == Padding::zeros) {
    const Value is_number = at == at;  // NOLINT(misc-redundant-expression): false for NaN
    return min(max(select(is_number, at, -2.0), -2.0), last + 2);
  }
  return min(max(padding == Padding::reflection ? reflected(at) : at, 0.0), last);
}

// Mirrored at the centres or at the outer edges of the first and last pixels, as often as it takes.
Value PixelAxis::reflected(const Value& at) const {
  const double low = align_corners ? 0 : -0.5;
  const double span = align_corners ? static_cast<double>(size - 1) : static_cast<double>(size);
  if (span == 0) return at * 0.0;
  const Value from_low = abs(at - low);
  const Value flips = floor(from_low / span).detach();
  const Value rest = from_low - flips * span;
  return select(flips - floor(flips * 0.5) * 2.0 == 0.0, rest, span - rest) + low;
}

namespace {

// Whole-numbered coordinates as an index. Those outside of the image are moved to its border; the callers mask them.
Value to_index(const Value& place, std::int64_t size) {
  const Value index = cast(place.detach(), ir::DType::i64, current_site());
  return min(max(index, 0.0), static_cast<double>(size - 1));
}

Value is_inside(const Value& place, std::int64_t size) {
  return bool_and(place >= 0.0, place < static_cast<double>(size));
}

}  // namespace

Value at_pixels(const Value& planes, std::int64_t h, std::int64_t w, const Value& y, const Value& x) {
  const auto& site = current_site();
  const Value index = to_index(y, h) * static_cast<double>(w) + to_index(x, w);
  const auto shape = ir::Shape{planes.dim(0), planes.dim(1), index.dim(2)};
  const Value values = gather(planes, 2, expand(index, shape, site), site);
  const Value seen = expand(bool_and(is_inside(y, h), is_inside(x, w)), shape, site);
  return select(seen, values, literal(values, 0));
}

Value between_pixels(const Value& planes, std::int64_t h, std::int64_t w, const Value& y, const Value& x) {
  const auto& site = current_site();
  const auto m = planes.dim(0), c = planes.dim(1), count = y.dim(2);
  const Value top = floor(y).detach(), left = floor(x).detach();
  const Value down = y - top, right = x - left;  // the weights of the pixels below and to the right
  const ir::Shape shape{m, c, count};
  const auto spread = [&](const Value& v) { return expand(v, shape, site); };
  // A select, not a product with 0: outside pixels count as 0 even if the border pixel read instead is infinite.
  const auto corner = [&](const Value& row, const Value& column, const Value& weight) {
    const Value index = to_index(row, h) * static_cast<double>(w) + to_index(column, w);
    const Value values = gather(planes, 2, expand(index, shape, site), site);
    const Value seen = bool_and(is_inside(row, h), is_inside(column, w));
    return select(spread(seen), values * spread(weight), literal(values, 0));
  };
  const Value below = top + 1.0, next = left + 1.0, up = 1.0 - down, before = 1.0 - right;
  return corner(top, left, up * before) + corner(top, next, up * right) + corner(below, left, down * before) +
         corner(below, next, down * right);
}

}  // namespace burn::client
