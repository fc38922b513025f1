// The gradient of a table of which a loss uses a few rows: those rows and their numbers, instead of a tensor of the
// table's shape that is 0 everywhere else. What PyTorch's nn.Embedding(sparse=True) gives.
//
// Everything here records operations of the size of the rows; only to_dense() and add_rows() are of the table's size.
#pragma once

#include <span>

#include "client/value.h"

namespace burn::client {

// Row i of `rows` belongs to the table's row index[i]; those of equal index are to be added up. A value, like those
// that it consists of.
struct SparseGradient {
  Value index;      // [n], i32 or i64
  Value rows;       // [n, ...], of the table's dtype
  ir::Shape shape;  // of the table: [count, ...]
};

// Rows of `table` [count, ...] at `index` [n] -> [n, ...], as select_rows along dim 0. If the table is a leaf of the
// tape, backward() gives it a sparse gradient, unless it has other uses as well or the graph is kept for gradients of
// gradients. Errors (thrown): an index that is no vector of integers.
Value select_rows_sparse(const Value& table, const Value& index, const ir::CallSite& site);

// `dense`, of the table's shape, plus the rows.
Value add_rows(const Value& dense, const SparseGradient& gradient, const ir::CallSite& site);
// The gradient as a tensor of the table's shape.
Value to_dense(const SparseGradient& gradient, const ir::CallSite& site);
// The sum of several gradients of one table: their rows behind each other.
SparseGradient sum_of(std::span<const SparseGradient> gradients, const ir::CallSite& site);

// A sparse gradient whose rows of equal index have been added up. There are as many rows as before, as how many are
// distinct is known on the device only: in the order of their index, and where an index occurs several times, each of
// its rows holds the sum.
struct SummedRows {
  Value index;     // [n], ascending
  Value rows;      // [n, ...], in the dtype that the table's dtype computes in
  Value is_first;  // bool [n]: one row of each index
};
SummedRows summed(const SparseGradient& gradient, const ir::CallSite& site);
// The sum of the squares of all elements of the gradient: [1], in the dtype of the rows.
Value sum_of_squares(const SummedRows& rows, const ir::CallSite& site);

}  // namespace burn::client
