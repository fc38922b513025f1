#include "client/ops/arrange.h"

#include <algorithm>
#include <array>

#include "client/fail.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

// 0, 1, ... along one axis of a tensor of `rank` dims, the others being 1.
Value line(const Place& place, int rank, int axis, std::int64_t size, const Site& site) {
  ir::Shape shape = ir::Shape::filled(rank, 1);
  shape[axis] = size;
  return reshape(arange(place, 0, size, 1, ir::DType::i64, site), shape, site);
}

Value column_minus_row(const Place& place, const ir::Shape& shape, const Site& site) {
  const int rank = shape.rank();
  return pointwise(Fn::sub, line(place, rank, rank - 1, shape[rank - 1], site),
                   line(place, rank, rank - 2, shape[rank - 2], site), site);
}

Value triangle(const Value& x, Fn keep, std::int64_t diagonal, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  if (x.rank() < 2) fail(std::string{op} + ": " + ir::to_string(x.type()) + " is no matrix", site);
  const auto place = place_of(x);
  const Value kept = pointwise(keep, column_minus_row(place, x.shape(), site), diagonal, site);
  return select(expand(kept, x.shape(), site), x, constant(place, 0, x.dtype(), site), site);
}

}  // namespace

Value movedim(const Value& x, std::span<const std::int64_t> from, std::span<const std::int64_t> to, const Site& site) {
  (void)normalize_axes(from, x, "movedim", site);  // throws if a dim occurs twice
  (void)normalize_axes(to, x, "movedim", site);
  if (from.size() != to.size()) {
    fail("movedim: " + std::to_string(from.size()) + " dims to " + std::to_string(to.size()) + " places", site);
  }
  ir::Dims axes = ir::Dims::filled(x.rank(), -1), moved;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int axis = normalize_axis(from[i], x, "movedim", site);
    axes[normalize_axis(to[i], x, "movedim", site)] = axis;
    moved.push_back(axis);
  }
  int next = 0;
  for (auto& axis : axes) {
    if (axis >= 0) continue;
    while (moved.contains(next)) ++next;
    axis = next++;
  }
  return permute(x, axes, site);
}

Value roll(const Value& x, std::span<const std::int64_t> shifts, std::span<const std::int64_t> dims, const Site& site) {
  fail_if_empty(x, "roll", site);
  if (shifts.size() != dims.size()) {
    fail("roll: " + std::to_string(shifts.size()) + " shifts for " + std::to_string(dims.size()) + " dims", site);
  }
  Value result = x;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int axis = normalize_axis(dims[i], x, "roll", site);
    const auto size = x.dim(axis);
    const auto shift = size == 0 ? 0 : (shifts[i] % size + size) % size;
    if (shift == 0) continue;
    const auto parts =
        std::array{narrow(result, axis, shift, size - shift, site), narrow(result, axis, 0, shift, site)};
    result = concat(parts, axis, site);
  }
  return result;
}

Value squeeze_all(const Value& x, const Site& site) {
  fail_if_empty(x, "squeeze", site);
  ir::Dims ones;
  for (int i = 0; i < x.rank(); ++i) {
    if (x.dim(i) == 1 && ones.rank() + 1 < x.rank()) ones.push_back(i);
  }
  return ones.empty() ? x : squeeze(x, ones, site);
}

Value unsqueeze_to(const Value& x, std::int64_t rank, const Site& site) {
  fail_if_empty(x, "unsqueeze", site);
  if (rank < x.rank()) fail("unsqueeze: " + ir::to_string(x.type()) + " to rank " + std::to_string(rank), site);
  ir::Dims leading;
  for (int i = 0; i < rank - x.rank(); ++i) leading.push_back(i);
  return leading.empty() ? x : unsqueeze(x, leading, site);
}

Value repeat_dim(const Value& x, std::int64_t dim, std::int64_t times, const Site& site) {
  const int axis = normalize_axis(dim, x, "repeat_dim", site);
  ir::Dims counts = ir::Dims::filled(x.rank(), 1);
  counts[axis] = times;
  return repeat(x, counts, site);
}

Value unfold(const Value& x, std::int64_t dim, std::int64_t size, std::int64_t step, const Site& site) {
  const int axis = normalize_axis(dim, x, "unfold", site);
  if (size < 1 || step < 1) {
    fail("unfold: windows of " + std::to_string(size) + " elements, " + std::to_string(step) +
             " apart; both must be positive",
         site);
  }
  if (x.rank() == ir::kMaxRank) fail("unfold: " + ir::to_string(x.type()) + " has the largest rank already", site);
  const auto windows = x.dim(axis) < size ? 0 : (x.dim(axis) - size) / step + 1;
  Value rows;
  if (step == size) {  // adjacent windows need no copies
    rows = narrow(x, axis, 0, windows * size, site);
  } else {
    const auto place = place_of(x);
    const Value starts =
        pointwise(Fn::mul, line(place, 2, 0, windows, site), constant(place, step, ir::DType::i64, site), site);
    const Value index = pointwise(Fn::add, starts, line(place, 2, 1, size, site), site);
    rows = select_rows(x, axis, reshape(index, {windows * size}, site), site);
  }
  ir::Shape shape = x.shape();
  shape[axis] = windows;
  shape.insert(axis + 1, size);
  const std::int64_t content = axis + 1, last = -1;
  return movedim(reshape(rows, shape, site), std::span{&content, 1}, std::span{&last, 1}, site);
}

Value slice_dim(const Value& x, std::int64_t dim, const Range& range, const char* op, const Site& site) {
  std::vector<Range> ranges(static_cast<std::size_t>(normalize_axis(dim, x, op, site)) + 1);
  ranges.back() = range;
  return slice(x, ranges, site);
}

Value slice_fill(const Value& x, std::span<const Range> ranges, Scalar value, const Site& site) {
  fail_if_empty(x, "slice_fill", site);
  const auto part = slice(x.inner(), ranges, site).shape();
  return slice_assign(x, ranges, full(place_of(x), part, value, x.dtype(), site), site);
}

Value select_dim(const Value& x, std::int64_t dim, std::int64_t index, const Site& site) {
  const int axis = normalize_axis(dim, x, "select_dim", site);
  const auto size = x.dim(axis);
  if (index < -size || index >= size) {
    fail("select_dim: index " + std::to_string(index) + " is outside dim " + std::to_string(axis) + " of " +
             ir::to_string(x.type()),
         site);
  }
  const Value element = narrow(x, axis, index < 0 ? index + size : index, 1, site);
  return x.rank() == 1 ? element : squeeze(element, ir::Dims{axis}, site);
}

std::vector<Value> split_with_sizes(const Value& x, std::span<const std::int64_t> sizes, std::int64_t dim,
                                    const Site& site) {
  const int axis = normalize_axis(dim, x, "split_with_sizes", site);
  std::int64_t total = 0;
  for (const auto size : sizes) {
    if (size < 0 || size > x.dim(axis) - total) {
      total = -1;
      break;
    }
    total += size;
  }
  if (total != x.dim(axis)) {
    fail("split_with_sizes: " + ir::to_string(ir::Shape{sizes}) + " do not make up dim " + std::to_string(axis) +
             " of " + ir::to_string(x.type()),
         site);
  }
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (const auto size : sizes) {
    parts.push_back(narrow(x, axis, start, size, site));
    start += size;
  }
  return parts;
}

namespace {

std::vector<Value> pieces_of(const Value& x, std::int64_t size, int axis, const Site& site) {
  std::vector<Value> parts;
  for (std::int64_t start = 0; start < x.dim(axis); start += size) {
    parts.push_back(narrow(x, axis, start, std::min(size, x.dim(axis) - start), site));
  }
  return parts;
}

}  // namespace

std::vector<Value> split(const Value& x, std::int64_t size, std::int64_t dim, const Site& site) {
  const int axis = normalize_axis(dim, x, "split", site);
  if (size < 1) fail("split: pieces of " + std::to_string(size) + " elements", site);
  if (x.dim(axis) == 0) return {x};
  return pieces_of(x, size, axis, site);
}

std::vector<Value> chunk(const Value& x, std::int64_t chunks, std::int64_t dim, const Site& site) {
  const int axis = normalize_axis(dim, x, "chunk", site);
  if (chunks < 1) fail("chunk: into " + std::to_string(chunks) + " pieces", site);
  const auto size = x.dim(axis);
  return pieces_of(x, std::max<std::int64_t>(1, size / chunks + (size % chunks != 0)), axis, site);
}

namespace {

// Pads one dim with copies of the elements inside.
Value pad_axis(const Value& x, int axis, std::int64_t before, std::int64_t after, PadKind kind, const Site& site) {
  const auto size = x.dim(axis);
  const bool mirrors = kind == PadKind::reflect;
  const auto most = mirrors ? size - 1 : size == 0 ? 0 : std::max(before, after);
  if (before > most || after > most) {
    fail(std::string{"pad: "} + (mirrors ? "reflect" : "edge") + " padding of " + std::to_string(before) + " and " +
             std::to_string(after) + " is more than dim " + std::to_string(axis) + " of " + ir::to_string(x.type()) +
             " has to give",
         site);
  }
  const auto border = [&](std::int64_t first, std::int64_t count) {  // reflect: [first, first + count) backwards
    if (mirrors) return slice_dim(x, axis, {first, first + count, -1}, "pad", site);
    ir::Shape shape = x.shape();
    shape[axis] = count;
    return expand(narrow(x, axis, first, 1, site), shape, site);
  };
  std::vector<Value> parts;
  if (before > 0) parts.push_back(border(mirrors ? 1 : 0, before));
  parts.push_back(x);
  if (after > 0) parts.push_back(border(mirrors ? size - 1 - after : size - 1, after));
  return concat(parts, axis, site);
}

}  // namespace

Value pad_as(const Value& x, const Padding& pads, PadKind kind, Scalar value, const Site& site) {
  if (kind == PadKind::constant) return pad(x, pads, value, site);
  fail_if_empty(x, "pad", site);
  const int rank = x.rank(), first = rank - static_cast<int>(pads.size());
  if (first < 0) fail("pad: " + std::to_string(pads.size()) + " pairs for " + ir::to_string(x.type()), site);
  Value result = x;
  for (int axis = first; axis < rank; ++axis) {
    const auto [before, after] = pads[static_cast<std::size_t>(axis - first)];
    if (before < 0 || after < 0) fail("pad: negative padding at dim " + std::to_string(axis), site);
    if (before > 0 || after > 0) result = pad_axis(result, axis, before, after, kind, site);
  }
  return result;
}

Value triu(const Value& x, std::int64_t diagonal, const Site& site) {
  return triangle(x, Fn::greater_equal, diagonal, "triu", site);
}
Value tril(const Value& x, std::int64_t diagonal, const Site& site) {
  return triangle(x, Fn::lower_equal, diagonal, "tril", site);
}

Value eye(const Place& place, std::int64_t size, ir::DType dtype, const Site& site) {
  if (size < 0) fail("eye: a size of " + std::to_string(size), site);
  const Value numbers = arange(place, 0, size, 1, ir::DType::i64, site);
  const Value same = pointwise(Fn::equal, reshape(numbers, {size, 1}, site), reshape(numbers, {1, size}, site), site);
  return cast(same, dtype, site);
}

Value diagonal_mask(const Place& place, const ir::Shape& shape, Fn fn, std::int64_t offset, const char* op,
                    const Site& site) {
  if (shape.rank() < 2) fail(std::string{op} + ": " + ir::to_string(shape) + " is no matrix", site);
  for (const auto size : shape) {
    if (size < 0) fail(std::string{op} + ": " + ir::to_string(shape) + " has a size below 0", site);
  }
  return expand(pointwise(fn, column_minus_row(place, shape, site), offset, site), shape, site);
}

Value cartesian_grid(const Place& place, const ir::Shape& shape, const Site& site) {
  const int rank = shape.rank();
  if (rank == ir::kMaxRank) fail("cartesian_grid: " + ir::to_string(shape) + " has the largest rank already", site);
  std::vector<Value> axes;
  axes.reserve(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) axes.push_back(expand(line(place, rank, i, shape[i], site), shape, site));
  return stack(axes, rank, site);
}

std::vector<Value> meshgrid(std::span<const Value> axes, bool is_cartesian, bool is_sparse, const Site& site) {
  const int rank = static_cast<int>(axes.size());
  if (rank < 1 || rank > ir::kMaxRank) fail("meshgrid: of " + std::to_string(axes.size()) + " tensors", site);
  ir::Shape whole;
  for (const auto& axis : axes) {
    fail_if_empty(axis, "meshgrid", site);
    if (axis.rank() != 1) fail("meshgrid: " + ir::to_string(axis.type()) + " is no vector", site);
    whole.push_back(axis.dim(0));
  }
  std::vector<Value> grids;
  for (int i = 0; i < rank; ++i) {
    ir::Shape shape = ir::Shape::filled(rank, 1);
    shape[i] = whole[i];
    Value grid = reshape(axes[static_cast<std::size_t>(i)], shape, site);
    if (!is_sparse) grid = expand(grid, whole, site);
    grids.push_back(is_cartesian && rank > 1 ? swap_dims(grid, 0, 1, site) : grid);
  }
  return grids;
}

}  // namespace burn::client
