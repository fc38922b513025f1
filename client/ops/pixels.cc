#include "client/ops/pixels.h"

namespace burn::client {

using Padding = GridSamplePaddingMode;

Term PixelLine::from_grid(const Term& g) const {
  const auto n = static_cast<double>(size);
  return align_corners ? (g + 1.0) * ((n - 1) / 2) : (g + 1.0) * (n / 2) - 0.5;
}

Term PixelLine::inside(const Term& at) const {
  const auto last = static_cast<double>(size - 1);
  if (padding == Padding::zeros) return min(max(select(at == at, at, -2.0), -2.0), last + 2);
  return min(max(padding == Padding::reflection ? reflected(at) : at, 0.0), last);
}

// Mirrored at the centres or at the outer edges of the first and last pixels, as often as it takes.
Term PixelLine::reflected(const Term& at) const {
  const double low = align_corners ? 0 : -0.5;
  const double span = align_corners ? static_cast<double>(size - 1) : static_cast<double>(size);
  if (span == 0) return at * 0.0;
  const Term from_low = abs(at - low);
  const Term flips = floor(from_low / span).detach();
  const Term rest = from_low - flips * span;
  return select(flips - floor(flips * 0.5) * 2.0 == 0.0, rest, span - rest) + low;
}

namespace {

// Whole-numbered places as an index, with those outside moved to the border; they are not counted.
Term to_index(const Term& place, std::int64_t size) {
  const Term index = place.with(cast(place.detach(), ir::DType::i64, place.site()));
  return min(max(index, 0.0), static_cast<double>(size - 1));
}

Term is_inside(const Term& place, std::int64_t size) {
  return bool_and(place >= 0.0, place < static_cast<double>(size));
}

}  // namespace

Term at_pixels(const Term& planes, std::int64_t h, std::int64_t w, const Term& y, const Term& x) {
  const auto& site = planes.site();
  const Term index = to_index(y, h) * static_cast<double>(w) + to_index(x, w);
  const auto shape = ir::Shape{planes.value().dim(0), planes.value().dim(1), index.value().dim(2)};
  const Term values = planes.with(gather(planes, 2, expand(index, shape, site), site));
  const Term seen = planes.with(expand(bool_and(is_inside(y, h), is_inside(x, w)), shape, site));
  return select(seen, values, values.literal(0));
}

Term between_pixels(const Term& planes, std::int64_t h, std::int64_t w, const Term& y, const Term& x) {
  const auto& site = planes.site();
  const auto m = planes.value().dim(0), c = planes.value().dim(1), count = y.value().dim(2);
  const Term top = floor(y).detach(), left = floor(x).detach();
  const Term down = y - top, right = x - left;  // the shares of the pixels one step further
  const ir::Shape shape{m, c, count};
  const auto spread = [&](const Term& v) { return planes.with(expand(v, shape, site)); };
  // Not a product with 0: what is outside counts as 0 also where the pixel read in its place is infinite.
  const auto corner = [&](const Term& row, const Term& column, const Term& weight) {
    const Term index = to_index(row, h) * static_cast<double>(w) + to_index(column, w);
    const Term values = planes.with(gather(planes, 2, expand(index, shape, site), site));
    const Term seen = bool_and(is_inside(row, h), is_inside(column, w));
    return select(spread(seen), values * spread(weight), values.literal(0));
  };
  const Term below = top + 1.0, next = left + 1.0, up = 1.0 - down, before = 1.0 - right;
  return corner(top, left, up * before) + corner(top, next, up * right) + corner(below, left, down * before) +
         corner(below, next, down * right);
}

}  // namespace burn::client
