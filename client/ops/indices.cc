#include "client/ops/indices.h"

#include <algorithm>

#include "client/fail.h"

namespace burn::client {
namespace {

using Fn = ir::PointwiseFn;

std::int64_t product(const ir::Shape& shape, int begin, int end) {
  std::int64_t count = 1;
  for (int i = begin; i < end; ++i) count *= shape[i];
  return count;
}

// The operands of gather_nd and scatter_nd as those of a gather or scatter of rows: x as [positions, inner], the index
// as [rows].
struct Flat {
  Value x, index;
  std::int64_t inner = 1;
  ir::Shape result;  // [*batch, *x.shape[k:]]
};

Flat flat(const Value& x, const Value& indices, const char* op, const Site& site) {
  fail_if_empty(x, op, site);
  fail_if_empty(indices, std::string{op}.append(": the indices").c_str(), site);
  const int batch = indices.rank() - 1;
  const auto k = indices.dim(-1);
  const auto describe = [&] { return ir::to_string(indices.type()) + " into " + ir::to_string(x.type()); };
  if (!ir::is_integer(indices.dtype())) fail(std::string{op} + ": the indices are no integers: " + describe(), site);
  if (k < 1 || k > x.rank()) fail(std::string{op} + ": indices of " + std::to_string(k) + " dims: " + describe(), site);
  const int leading = static_cast<int>(k);
  if (batch + x.rank() - leading > ir::kMaxRank) fail(std::string{op} + ": rank too large: " + describe(), site);

  const auto places = product(x.shape(), 0, leading), rows = product(indices.shape(), 0, batch);
  const Value columns = apply(ir::Reshape{{rows, k}}, cast(indices.detach(), ir::DType::i64, site), site);
  // The row-major position. The contribution of each coordinate is looked up in a table, so that a coordinate that is
  // out of range of its dim is an error, and is not taken for a later position.
  Value index = columns;
  if (leading == 1) index = apply(ir::Reshape{{rows}}, columns, site);
  for (int i = 0; i < leading && leading > 1; ++i) {
    const Value column = apply(ir::Reshape{{rows}}, narrow(columns, 1, i, 1, site), site);
    const auto stride = std::max<std::int64_t>(1, product(x.shape(), i + 1, leading));
    const Value steps = arange(place_of(indices), 0, x.dim(i) * stride, stride, ir::DType::i64, site);
    const Value added = select_rows(steps, 0, column, site);
    index = i == 0 ? added : pointwise(Fn::add, index, added, site);
  }

  Flat result;
  result.inner = product(x.shape(), leading, x.rank());
  result.x = apply(ir::Reshape{{places, result.inner}}, x, site);
  result.index = index;
  for (int i = 0; i < batch; ++i) result.result.push_back(indices.dim(i));
  for (int i = leading; i < x.rank(); ++i) result.result.push_back(x.dim(i));
  if (result.result.empty()) result.result.push_back(1);
  return result;
}

}  // namespace

Value take(const Value& x, std::int64_t dim, const Value& indices, const Site& site) {
  const int axis = normalize_axis(dim, x, "take", site);
  fail_if_empty(indices, "take: the indices", site);
  if (x.rank() + indices.rank() - 1 > ir::kMaxRank) {
    fail("take: " + ir::to_string(indices.type()) + " in " + ir::to_string(x.type()) + ": rank too large", site);
  }
  const Value rows = select_rows(x, axis, reshape(indices, {-1}, site), site);
  ir::Shape shape;
  for (int i = 0; i < axis; ++i) shape.push_back(x.dim(i));
  for (const auto size : indices.shape()) shape.push_back(size);
  for (int i = axis + 1; i < x.rank(); ++i) shape.push_back(x.dim(i));
  return reshape(rows, shape, site);
}

Value gather_nd(const Value& x, const Value& indices, const Site& site) {
  const Flat f = flat(x, indices, "gather_nd", site);
  return apply(ir::Reshape{f.result}, select_rows(f.x, 0, f.index, site), site);
}

Value scatter_nd(const Value& x, const Value& indices, const Value& values, ir::ScatterFn fn, const Site& site) {
  const Flat f = flat(x, indices, "scatter_nd", site);
  fail_if_empty(values, "scatter_nd: the values", site);
  if (values.shape() != f.result || values.dtype() != x.dtype()) {
    fail("scatter_nd: at " + ir::to_string(indices.type()) + " of " + ir::to_string(x.type()) + " there is room for " +
             ir::to_string(f.result) + ", the values are " + ir::to_string(values.type()),
         site);
  }
  const Value rows = apply(ir::Reshape{{f.index.dim(0), f.inner}}, values, site);
  return apply(ir::Reshape{x.shape()}, select_assign(f.x, 0, f.index, rows, fn, site), site);
}

Value one_hot_fill(const Value& x, std::int64_t classes, Scalar on, Scalar off, std::int64_t axis, const Site& site) {
  fail_if_empty(x, "one_hot_fill", site);
  if (classes < 0) fail("one_hot_fill: " + std::to_string(classes) + " classes", site);
  if (x.rank() == ir::kMaxRank) fail("one_hot_fill: " + ir::to_string(x.type()) + " has the largest rank", site);
  const int at = normalize_axis(axis, x.rank() + 1, "one_hot_fill", site);
  const auto place = place_of(x);
  ir::Shape line = ir::Shape::filled(x.rank() + 1, 1), shape = x.shape();
  line[at] = classes;
  shape.insert(at, classes);
  const Value ids = unsqueeze(cast(x.detach(), ir::DType::i64, site), ir::Dims{at}, site);
  const Value count = constant(place, classes, ir::DType::i64, site);
  const Value counted = select(pointwise(Fn::lower, ids, constant(place, 0, ir::DType::i64, site), site),
                               pointwise(Fn::add, ids, count, site), ids, site);
  const Value all = arange(place, 0, classes, 1, ir::DType::i64, site);
  const Value known = known_classes(counted, all, site);
  const Value is_on = expand(pointwise(Fn::equal, known, reshape(all, line, site), site), shape, site);
  return select(is_on, scalar(place, on, x.dtype(), site), scalar(place, off, x.dtype(), site), site);
}

}  // namespace burn::client
