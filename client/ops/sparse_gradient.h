// The gradient of a table of which a loss uses only a few rows: those rows and their indices, instead of a tensor of
// the table's shape that is 0 everywhere else. As of PyTorch's nn.Embedding(sparse=True).
//
// All functions record operations of the size of the rows, except to_dense() and add_rows(), which are of the table's
// size.
#pragma once

#include <span>

#include "client/value.h"

namespace burn::client {

// Row i of `rows` belongs to the table's row index[i]; the gradient of a table row is the sum of all rows with its
// index. A value type.
struct SparseGradient {
  Value index;      // [n], i32 or i64
  Value rows;       // [n, ...], of the table's dtype
  ir::Shape shape;  // of the table: [count, ...]
};

// Rows of `table` [count, ...] at `index` [n] -> [n, ...], as select_rows() along dim 0. If the table is a leaf of the
// tape, backward() computes a sparse gradient for it, unless the table has other uses as well or create_graph is set.
// Errors (thrown): an index that is not a vector of integers.
Value select_rows_sparse(const Value& table, const Value& index, const ir::CallSite& site);

// `dense`, of the table's shape, plus the rows.
Value add_rows(const Value& dense, const SparseGradient& gradient, const ir::CallSite& site);
// The gradient as a tensor of the table's shape.
Value to_dense(const SparseGradient& gradient, const ir::CallSite& site);
// The sum of several gradients of one table: the concatenation of their rows.
SparseGradient sum_of(std::span<const SparseGradient> gradients, const ir::CallSite& site);

// A sparse gradient whose rows of equal index have been summed. The number of rows does not change, as only the device
// knows how many indices are distinct: rows are sorted by index, and if an index occurs several times, each of its rows
// holds the sum.
struct SummedRows {
  Value index;     // [n], ascending
  Value rows;      // [n, ...], in the compute dtype of the table's dtype
  Value is_first;  // bool [n]: true for one row of each index
};
SummedRows summed(const SparseGradient& gradient, const ir::CallSite& site);
// The sum of the squares of all elements of the gradient: [1], in the dtype of the rows.
Value sum_of_squares(const SummedRows& rows, const ir::CallSite& site);

}  // namespace burn::client
