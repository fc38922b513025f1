#include "client/ops/sparse_gradient.h"

#include <array>
#include <vector>

#include "client/ops/formula.h"

namespace burn::client {
namespace {

// `values` [n] expanded over the rows of a tensor of `shape` [n, ...]: a view.
Value for_each_row(const Value& values, const ir::Shape& shape, const Site& site) {
  ir::Shape column = ir::Shape::filled(shape.rank(), 1);
  column[0] = shape[0];
  return expand(reshape(values, column, site), shape, site);
}

// The number of each element's group of equal neighbours, from 0: [n].
Value group_numbers(const Value& differs, const Site& site) {
  const Value first = filled(place_of(differs), {1}, 0, ir::DType::i64, site);
  const std::array parts{first, cast(differs, ir::DType::i64, site)};
  return scan(ir::ReduceFn::sum, concat(parts, 0, site), 0, site);
}

}  // namespace

Value select_rows_sparse(const Value& table, const Value& index, const Site& site) {
  Value rows = select_rows(table, 0, index, site);
  if (rows.is_tracked() && table.is_tracked() && table.tape()->is_leaf) rows.tape()->is_sparse = true;
  return rows;
}

Value add_rows(const Value& dense, const SparseGradient& gradient, const Site& site) {
  return select_assign(dense, 0, gradient.index, gradient.rows, ir::ScatterFn::add, site);
}

Value to_dense(const SparseGradient& gradient, const Site& site) {
  return add_rows(filled(place_of(gradient.rows), gradient.shape, 0, gradient.rows.dtype(), site), gradient, site);
}

SparseGradient sum_of(std::span<const SparseGradient> gradients, const Site& site) {
  if (gradients.size() == 1) return gradients[0];
  std::vector<Value> indices, rows;
  for (const auto& gradient : gradients) {
    indices.push_back(cast(gradient.index, ir::DType::i64, site));
    rows.push_back(gradient.rows);
  }
  return {concat(indices, 0, site), concat(rows, 0, site), gradients[0].shape};
}

SummedRows summed(const SparseGradient& gradient, const Site& site) {
  const Value rows = to_compute_dtype(gradient.rows, site);
  const auto count = rows.dim(0);
  if (count <= 1) return {gradient.index, rows, filled(place_of(rows), {count}, 1, ir::DType::bool_, site)};
  const auto [index, order] = sort(gradient.index, 0, false, site);
  const Value differs = pointwise(ir::PointwiseFn::not_equal, narrow(index, 0, 1, count - 1, site),
                                  narrow(index, 0, 0, count - 1, site), site);
  const Value group = group_numbers(differs, site);
  // Summed in their original order, as for a dense gradient.
  const Value zeros = filled(place_of(rows), rows.shape(), 0, rows.dtype(), site);
  const Value sums = select_assign(zeros, 0, group, select_rows(rows, 0, order, site), ir::ScatterFn::add, site);
  const std::array parts{filled(place_of(rows), {1}, 1, ir::DType::bool_, site), differs};
  return {index, select_rows(sums, 0, group, site), concat(parts, 0, site)};
}

Value sum_of_squares(const SummedRows& rows, const Site& site) {
  const Value squares = pointwise(ir::PointwiseFn::mul, rows.rows, rows.rows, site);
  const Value zeros = filled(place_of(squares), squares.shape(), 0, squares.dtype(), site);
  const Value once = select(for_each_row(rows.is_first, squares.shape(), site), squares, zeros, site);
  return reduce_all(ir::ReduceFn::sum, once, site);
}

}  // namespace burn::client
