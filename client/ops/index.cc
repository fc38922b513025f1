#include <array>

#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::client {

Value gather(const Value& x, std::int64_t axis, const Value& index, const Site& site) {
  return apply(ir::Gather{normalize_axis(axis, x, "gather", site)}, x, index, site);
}

Value scatter(const Value& x, std::int64_t axis, const Value& index, const Value& values, ir::ScatterFn fn,
              const Site& site) {
  return apply(ir::Scatter{normalize_axis(axis, x, "scatter", site), fn}, x, index, values, site);
}

namespace {

// A list of rows as the index of a Gather along `axis`: each number is expanded over a whole row, without a copy (a
// stride of 0).
Value row_index(const Value& x, int axis, const Value& index, const char* op, const Site& site) {
  fail_if_empty(index, op, site);
  if (index.rank() != 1)
    fail(std::string{op} + ": the index is " + ir::to_string(index.type()) + ", must have rank 1", site);
  ir::Shape column = ir::Shape::filled(x.rank(), 1);
  column[axis] = index.dim(0);
  ir::Shape rows = x.shape();
  rows[axis] = index.dim(0);
  return expand(reshape(index, column, site), rows, site);
}

}  // namespace

Value select_rows(const Value& x, std::int64_t axis, const Value& index, const Site& site) {
  const int a = normalize_axis(axis, x, "select", site);
  return gather(x, a, row_index(x, a, index, "select", site), site);
}

Value select_assign(const Value& x, std::int64_t axis, const Value& index, const Value& values, ir::ScatterFn fn,
                    const Site& site) {
  const int a = normalize_axis(axis, x, "select_assign", site);
  return scatter(x, a, row_index(x, a, index, "select_assign", site), values, fn, site);
}

Value known_classes(const Value& ids, const Value& classes, const Site& site) {
  return reshape(select_rows(classes, 0, reshape(ids, {ids.type().num_elements()}, site), site), ids.shape(), site);
}

Value one_hot(const Value& x, std::int64_t classes, const Site& site) {
  fail_if_empty(x, "one_hot", site);
  if (classes < 0) fail("one_hot: " + std::to_string(classes) + " classes", site);
  ir::Shape shape = x.shape();
  if (shape.rank() == ir::kMaxRank)
    fail("one_hot: rank " + std::to_string(shape.rank() + 1) + " is above the largest", site);
  shape.push_back(classes);
  ir::Shape row = ir::Shape::filled(shape.rank(), 1);
  row[shape.rank() - 1] = classes;
  const Value all = arange(place_of(x), 0, classes, 1, ir::DType::i64, site);
  const Value ids = known_classes(cast(x.detach(), ir::DType::i64, site), all, site);
  return cast(pointwise(ir::PointwiseFn::equal, expand(unsqueeze(ids, ir::Dims{x.rank()}, site), shape, site),
                        expand(reshape(all, row, site), shape, site), site),
              x.dtype(), site);
}

}  // namespace burn::client
