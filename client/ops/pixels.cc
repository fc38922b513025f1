#include "client/ops/pixels.h"

#include <vector>

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
  // The four pixels around each place, as [m, 4, count]: 0 and 1 in the upper row, 2 and 3 in the lower one.
  const auto corner = [&](std::int64_t first, std::int64_t second, std::int64_t third, std::int64_t fourth) {
    const std::int64_t steps[] = {first, second, third, fourth};
    std::vector<Value> numbers;
    for (const auto step : steps)
      numbers.push_back(filled(place_of(planes), {1, 1, 1}, step, planes.value().dtype(), site));
    return planes.with(concat(numbers, 1, site));
  };
  const Term right = corner(0, 1, 0, 1), below = corner(0, 0, 1, 1);
  const Term top = floor(y).detach(), left = floor(x).detach();
  // 1 - rest of the nearer one, rest of the one a step further.
  const auto share = [](const Term& rest, const Term& step) { return (step * 2.0 - 1.0) * rest + (1.0 - step); };
  const Term weight = share(y - top, below) * share(x - left, right);
  const Term rows = top + below, columns = left + right;
  const Term index = to_index(rows, h) * static_cast<double>(w) + to_index(columns, w);
  const Term seen = bool_and(is_inside(rows, h), is_inside(columns, w));
  const auto spread = [&](const Term& v) {  // [m, 4, count] -> [m, c, 4, count]
    return planes.with(expand(unsqueeze(v, ir::Dims{1}, site), {m, c, 4, count}, site));
  };
  const Value all = expand(reshape(index, {m, 1, 4 * count}, site), {m, c, 4 * count}, site);
  const Term values = planes.with(reshape(gather(planes, 2, all, site), {m, c, 4, count}, site));
  // Not a product with 0: what is outside counts as 0 also where the pixel read in its place is infinite.
  const Term products = select(spread(seen), values * spread(weight), values.literal(0));
  return planes.with(reshape(reduce(ir::ReduceFn::sum, products, ir::Dims{2}, site), {m, c, count}, site));
}

}  // namespace burn::client
