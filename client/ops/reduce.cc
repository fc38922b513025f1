#include <algorithm>
#include <numeric>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "client/ops/statistics.h"

namespace burn::client {

namespace {

// The dtype that reduce() and scan() compute in. Sums and products of bools and of integers narrower than 64 bits: i64,
// so that they do not wrap; of 16-bit floats within an autocast scope: f32. Requires: x is not empty.
ir::DType reduced_dtype(ir::ReduceFn fn, const Value& x) {
  const auto dtype = x.dtype();
  if (fn != ir::ReduceFn::sum && fn != ir::ReduceFn::prod) return dtype;
  if (!ir::is_floating(dtype)) return ir::size_of(dtype) < ir::size_of(ir::DType::i64) ? ir::DType::i64 : dtype;
  return Autocast::dtype() ? ir::compute_dtype(dtype) : dtype;
}

// `x` itself if it has the dtype, else its cast, which is stored in `room`. Backends read the elements in their own
// dtype and sum them in i64 (compile/rewrite/narrow_sums.h): no converted copy is made.
const Value& in_dtype(ir::DType dtype, const Value& x, Value& room, const Site& site) {
  if (x.dtype() == dtype) return x;
  room = cast(x, dtype, site);
  return room;
}

ir::Dims all_axes(const Value& x) {
  ir::Dims axes = ir::Dims::filled(x.rank(), 0);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

Value reduce_in(ir::DType dtype, ir::ReduceFn fn, const Value& operand, const ir::Dims& axes, const Site& site) {
  fail_if_empty(operand, "reduce", site);
  Value room;
  const Value& x = in_dtype(dtype, operand, room, site);
  return apply(ir::Reduce{fn, normalize_axes(axes.span(), x, "reduce", site)}, x, site);
}

Value reduce_all_in(ir::DType dtype, ir::ReduceFn fn, const Value& operand, const Site& site) {
  fail_if_empty(operand, "reduce", site);
  Value room;
  const Value& x = in_dtype(dtype, operand, room, site);
  const auto reduced = apply(ir::Reduce{fn, all_axes(x)}, x, site);
  return reshape(reduced, ir::Shape{1}, site);
}

Value scan_in(ir::DType dtype, ir::ReduceFn fn, const Value& operand, std::int64_t axis, const Site& site) {
  fail_if_empty(operand, "cumsum", site);
  Value room;
  const Value& x = in_dtype(dtype, operand, room, site);
  return apply(ir::Scan{fn, normalize_axis(axis, x, "cumsum", site)}, x, site);
}

Value reduce(ir::ReduceFn fn, const Value& x, const ir::Dims& axes, const Site& site) {
  fail_if_empty(x, "reduce", site);
  return reduce_in(reduced_dtype(fn, x), fn, x, axes, site);
}

Value reduce_all(ir::ReduceFn fn, const Value& x, const Site& site) {
  fail_if_empty(x, "reduce", site);
  return reduce_all_in(reduced_dtype(fn, x), fn, x, site);
}

Value scan(ir::ReduceFn fn, const Value& x, std::int64_t axis, const Site& site) {
  fail_if_empty(x, "cumsum", site);
  return scan_in(reduced_dtype(fn, x), fn, x, axis, site);
}

namespace {

// Divides a sum over `count` elements, for a mean. Integers use integer division.
Value divide_by_count(const Value& sum, std::int64_t count, const Site& site) {
  return pointwise(ir::PointwiseFn::div, sum, constant(place_of(sum), count, sum.dtype(), site), site);
}

// Requires: axes of x.
std::int64_t count_of(const Value& x, const ir::Dims& axes) {
  std::int64_t count = 1;
  for (const auto axis : axes) count *= x.dim(static_cast<int>(axis));
  return count;
}

// Computes the formula over x in a dtype that is wide enough for a mean. The mean of integers is within the range of
// their dtype, but their sum and their count may not be.
template <typename Formula>
Value in_mean_dtype(const Value& x, const Site& site, Formula&& formula) {
  if (!ir::is_integer(x.dtype()) || ir::size_of(x.dtype()) == ir::size_of(ir::DType::i64))
    return in_wide_dtype(x, site, formula);
  return cast(formula(cast(x, ir::DType::i64, site)), x.dtype(), site);
}

}  // namespace

Value mean(const Value& value, const ir::Dims& axes, const Site& site) {
  fail_if_empty(value, "mean", site);
  return in_mean_dtype(value, site, [&](const Value& x) {
    const Value sum = reduce(ir::ReduceFn::sum, x, axes, site);
    return divide_by_count(sum, count_of(x, axes), site);
  });
}

// The reshape is last: a sum and its division can be one kernel if no op is between them.
Value mean_all(const Value& value, const Site& site) {
  fail_if_empty(value, "mean", site);
  return reshape(mean(value, all_axes(value), site), ir::Shape{1}, site);
}

Value var(const Value& value, const ir::Dims& axes, std::int64_t correction, const Site& site) {
  fail_if_empty(value, "var", site);
  return in_wide_dtype(value, site, [&](const Value& x) {
    const Value centred = x - mean(x, axes, site);
    const Value sum = reduce(ir::ReduceFn::sum, centred * centred, axes, site);
    return divide_by_count(sum, std::max<std::int64_t>(0, count_of(x, axes) - correction), site);  // 0 gives NaN
  });
}

Value arg_reduce(ir::ArgFn fn, const Value& x, std::int64_t axis, const Site& site) {
  return apply(ir::ArgReduce{fn, normalize_axis(axis, x, "argmax", site)}, x, site);
}

Indexed sort(const Value& x, std::int64_t axis, bool descending, const Site& site) {
  auto results = apply_all(ir::Sort{normalize_axis(axis, x, "sort", site), descending}, x, site);
  return {std::move(results[0]), std::move(results[1])};
}

Indexed top_k(const Value& x, std::int64_t axis, std::int64_t k, bool largest, const Site& site) {
  auto results = apply_all(ir::TopK{normalize_axis(axis, x, "topk", site), k, largest}, x, site);
  return {std::move(results[0]), std::move(results[1])};
}

Value sum_to(const Value& x, const ir::Shape& shape, const Site& site) {
  fail_if_empty(x, "sum_to", site);
  if (x.shape() == shape) return x;
  const int added = x.rank() - shape.rank();
  ir::Dims axes;
  for (int i = 0; i < x.rank(); ++i) {
    if (i < added || (shape[i - added] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  }
  const auto summed = axes.empty() ? x : apply(ir::Reduce{ir::ReduceFn::sum, axes}, x, site);
  return summed.shape() == shape ? summed : apply(ir::Reshape{shape}, summed, site);
}

}  // namespace burn::client
