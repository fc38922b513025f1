#include <algorithm>
#include <array>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::client {

int normalize_axis(std::int64_t axis, int rank, const char* op, const Site& site) {
  if (axis < -rank || axis >= rank) {
    fail(std::string{op} + ": dim " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank),
         site);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

ir::Dims normalize_axes(std::span<const std::int64_t> axes, int rank, const char* op, const Site& site) {
  std::array<bool, ir::kMaxRank> named{};
  for (const auto axis : axes) {
    auto& seen = named[static_cast<std::size_t>(normalize_axis(axis, rank, op, site))];
    if (seen) fail(std::string{op} + ": dim " + std::to_string(axis) + " is named twice", site);
    seen = true;
  }
  ir::Dims sorted;
  for (int i = 0; i < rank; ++i) {
    if (named[static_cast<std::size_t>(i)]) sorted.push_back(i);
  }
  return sorted;
}

Value reshape(const Value& x, const ir::Shape& shape, const Site& site) {
  fail_if_empty(x, "reshape", site);
  ir::Shape full = shape;
  int inferred = -1;
  std::int64_t known = 1;
  for (int i = 0; i < full.rank(); ++i) {
    if (full[i] == 0 && x.type().num_elements() != 0) {
      if (i >= x.rank())
        fail("reshape: size 0 at dim " + std::to_string(i) + " keeps the input's size, but the input is " +
                 ir::to_string(x.type()),
             site);
      full[i] = x.shape()[i];
    }
    if (full[i] == -1) {
      if (inferred >= 0) fail("reshape: more than one -1 in " + ir::to_string(shape), site);
      inferred = i;
    } else {
      known *= full[i];
    }
  }
  if (inferred >= 0) {
    if (known == 0 || x.type().num_elements() % known != 0) {
      fail("reshape: " + ir::to_string(x.type()) + " does not fit " + ir::to_string(shape), site);
    }
    full[inferred] = x.type().num_elements() / known;
  }
  return full == x.shape() ? x : apply(ir::Reshape{full}, x, site);
}

Value permute(const Value& x, const ir::Dims& axes, const Site& site) {
  fail_if_empty(x, "permute", site);
  ir::Dims positive = axes;
  for (auto& axis : positive) axis = normalize_axis(axis, x, "permute", site);
  if (positive.rank() == x.rank() && std::is_sorted(positive.begin(), positive.end())) {
    bool is_identity = true;
    for (int i = 0; i < positive.rank(); ++i) is_identity &= positive[i] == i;
    if (is_identity) return x;
  }
  return apply(ir::Permute{positive}, x, site);
}

Value swap_dims(const Value& x, std::int64_t a, std::int64_t b, const Site& site) {
  fail_if_empty(x, "swap_dims", site);
  ir::Dims axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  std::swap(axes[normalize_axis(a, x, "swap_dims", site)], axes[normalize_axis(b, x, "swap_dims", site)]);
  return permute(x, axes, site);
}

Value expand(const Value& x, const ir::Shape& shape, const Site& site) {
  fail_if_empty(x, "expand", site);
  ir::Shape full = shape;
  for (int i = 0; i < full.rank(); ++i) {
    const int from = i - (full.rank() - x.rank());
    if (full[i] == -1 && from >= 0) full[i] = x.shape()[from];
  }
  return full == x.shape() ? x : apply(ir::Expand{full}, x, site);
}

Value flatten(const Value& x, std::int64_t start, std::int64_t end, const Site& site) {
  const int first = normalize_axis(start, x, "flatten", site);
  const int last = normalize_axis(end, x, "flatten", site);
  if (first > last)
    fail("flatten: start dim " + std::to_string(start) + " comes after end dim " + std::to_string(end), site);
  ir::Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (i > first && i <= last)
      shape[shape.rank() - 1] *= x.shape()[i];
    else
      shape.push_back(x.shape()[i]);
  }
  return shape == x.shape() ? x : apply(ir::Reshape{shape}, x, site);
}

Value squeeze(const Value& x, const ir::Dims& axes, const Site& site) {
  const auto dropped = normalize_axes(axes.span(), x, "squeeze", site);
  ir::Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (!dropped.contains(i)) {
      shape.push_back(x.shape()[i]);
    } else if (x.shape()[i] != 1) {
      fail("squeeze: dim " + std::to_string(i) + " of " + ir::to_string(x.type()) + " has size " +
               std::to_string(x.shape()[i]) + ", not 1",
           site);
    }
  }
  return apply(ir::Reshape{shape}, x, site);
}

Value unsqueeze(const Value& x, const ir::Dims& axes, const Site& site) {
  fail_if_empty(x, "unsqueeze", site);
  const int rank = x.rank() + axes.rank();
  if (rank > ir::kMaxRank)
    fail("unsqueeze: rank " + std::to_string(rank) + " is above the largest, " + std::to_string(ir::kMaxRank), site);
  const auto added = normalize_axes(axes.span(), rank, "unsqueeze", site);
  ir::Shape shape;
  for (int i = 0, from = 0; i < rank; ++i) shape.push_back(added.contains(i) ? 1 : x.shape()[from++]);
  return apply(ir::Reshape{shape}, x, site);
}

namespace {

// Converts user ranges to the starts, sizes and steps of an ir::Slice.
ir::Slice resolve(const Value& x, std::span<const Range> ranges, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  if (ranges.size() > static_cast<std::size_t>(x.rank())) {
    fail(std::string{op} + ": " + std::to_string(ranges.size()) + " ranges for " + ir::to_string(x.type()), site);
  }
  ir::Slice result;
  for (int i = 0; i < x.rank(); ++i) {
    const auto size = x.shape()[i];
    const Range range = static_cast<std::size_t>(i) < ranges.size() ? ranges[static_cast<std::size_t>(i)] : Range{};
    auto start = range.start < 0 ? range.start + size : range.start;
    auto end = !range.end ? size : (*range.end < 0 ? *range.end + size : *range.end);
    if (range.step == 0) fail(std::string{op} + ": step 0 at dim " + std::to_string(i), site);
    if (start < 0 || start > size || end < 0 || end > size) {
      fail(std::string{op} + ": range " + std::to_string(range.start) + ".." +
               (range.end ? std::to_string(*range.end) : "") + " is outside dim " + std::to_string(i) + " of " +
               ir::to_string(x.type()),
           site);
    }
    const auto length = std::max<std::int64_t>(0, end - start);
    const auto stride = range.step < 0 ? -range.step : range.step;
    const auto count = length == 0 ? 0 : (length - 1) / stride + 1;
    result.starts.push_back(count == 0 ? 0 : (range.step > 0 ? start : end - 1));
    result.sizes.push_back(count);
    result.steps.push_back(range.step);
  }
  return result;
}

bool is_whole(const ir::Slice& slice, const ir::Shape& shape) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (slice.sizes[i] != shape[i] || slice.starts[i] != 0 || slice.steps[i] != 1) return false;
  }
  return true;
}

}  // namespace

Value slice(const Value& x, std::span<const Range> ranges, const Site& site) {
  const auto op = resolve(x, ranges, "slice", site);
  return is_whole(op, x.shape()) ? x : apply(op, x, site);
}

Value slice_assign(const Value& x, std::span<const Range> ranges, const Value& values, const Site& site) {
  fail_if_empty(x, "slice_assign", site);
  fail_if_empty(values, "slice_assign: the values", site);
  const auto part = resolve(x, ranges, "slice_assign", site);
  if (values.shape() != part.sizes) {
    fail("slice_assign: the slice of " + ir::to_string(x.type()) + " is " + ir::to_string(part.sizes) +
             ", the values are " + ir::to_string(values.type()),
         site);
  }
  return apply(ir::SliceAssign{part.starts, part.steps}, x, values, site);
}

Value narrow(const Value& x, std::int64_t axis, std::int64_t start, std::int64_t length, const Site& site) {
  std::vector<Range> ranges(static_cast<std::size_t>(normalize_axis(axis, x, "narrow", site)) + 1);
  const auto size = x.dim(static_cast<int>(ranges.size()) - 1);
  if (start < 0 || length < 0 || start > size || length > size - start) {
    fail("narrow: " + std::to_string(length) + " elements from " + std::to_string(start) + " on are outside dim " +
             std::to_string(axis) + " of " + ir::to_string(x.type()),
         site);
  }
  ranges.back() = {start, start + length, 1};
  return slice(x, ranges, site);
}

Value flip(const Value& x, std::span<const std::int64_t> axes, const Site& site) {
  const auto flipped = normalize_axes(axes, x, "flip", site);
  std::vector<Range> ranges(static_cast<std::size_t>(x.rank()));
  for (const auto axis : flipped) ranges[static_cast<std::size_t>(axis)].step = -1;
  return slice(x, ranges, site);
}

Value batched(const Value& x, std::int64_t axis, const Site& site) {
  return placed(x, axis, ir::MeshAxis::data, "batched", site);
}

Value placed(const Value& x, std::int64_t axis, ir::MeshAxis mesh, const char* op, const Site& site) {
  return apply(ir::Place{normalize_axis(axis, x, op, site), mesh}, x, site);
}

namespace {

// Within an autocast scope, casts floats of different dtypes to the widest one. Returns an empty list if no cast is
// needed.
std::vector<Value> of_one_dtype(std::span<const Value> parts, const Site& site) {
  std::optional<ir::DType> widest;
  for (const auto& part : parts) {
    if (!part.has_value()) return {};
    if (const auto wide = common_dtype(widest.value_or(parts[0].dtype()), part.dtype())) widest = wide;
  }
  if (!widest) return {};
  std::vector<Value> alike(parts.begin(), parts.end());
  for (auto& part : alike) {
    if (ir::is_floating(part.dtype())) part = cast(part, *widest, site);
  }
  return alike;
}

}  // namespace

Value concat(std::span<const Value> parts, std::int64_t axis, const Site& site) {
  if (parts.empty()) fail("cat: no tensors", site);
  fail_if_empty(parts[0], "cat", site);
  if (parts.size() == 1) return parts[0];
  const auto alike = of_one_dtype(parts, site);
  if (!alike.empty()) parts = alike;
  return apply(ir::Concat{normalize_axis(axis, parts[0].rank(), "cat", site)}, parts, site);
}

Value stack(std::span<const Value> parts, std::int64_t axis, const Site& site) {
  if (parts.empty()) fail("stack: no tensors", site);
  for (const auto& part : parts) fail_if_empty(part, "stack", site);
  const int position = normalize_axis(axis, parts[0].rank() + 1, "stack", site);
  std::vector<Value> unsqueezed;
  unsqueezed.reserve(parts.size());
  for (const auto& part : parts) unsqueezed.push_back(unsqueeze(part, ir::Dims{position}, site));
  return concat(unsqueezed, position, site);
}

Value repeat(const Value& x, const ir::Dims& times, const Site& site) {
  fail_if_empty(x, "repeat", site);
  if (times.rank() != x.rank())
    fail("repeat: " + std::to_string(times.rank()) + " counts for " + ir::to_string(x.type()), site);
  Value result = x;
  for (int i = 0; i < times.rank(); ++i) {
    if (times[i] < 0) fail("repeat: count " + std::to_string(times[i]) + " at dim " + std::to_string(i), site);
    if (times[i] == 1) continue;
    if (times[i] == 0) {
      result = narrow(result, i, 0, 0, site);
      continue;
    }
    const std::vector<Value> copies(static_cast<std::size_t>(times[i]), result);
    result = concat(copies, i, site);
  }
  return result;
}

Value pad(const Value& x, std::span<const std::pair<std::int64_t, std::int64_t>> pads, Scalar value, const Site& site) {
  fail_if_empty(x, "pad", site);
  const int rank = x.rank();
  if (pads.size() > static_cast<std::size_t>(rank))
    fail("pad: " + std::to_string(pads.size()) + " pairs for " + ir::to_string(x.type()), site);
  ir::Shape shape = x.shape();
  std::vector<Range> inside(static_cast<std::size_t>(rank));
  for (std::size_t k = 0; k < pads.size(); ++k) {
    const int axis = rank - static_cast<int>(pads.size()) + static_cast<int>(k);
    const auto [before, after] = pads[k];
    if (before < 0 || after < 0) fail("pad: negative padding at dim " + std::to_string(axis), site);
    inside[static_cast<std::size_t>(axis)] = {before, before + shape[axis], 1};
    shape[axis] += before + after;
  }
  return slice_assign(filled(place_of(x), shape, value, x.dtype(), site), inside, x, site);
}

}  // namespace burn::client
