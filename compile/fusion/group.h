// Nodes of a program that run as one kernel, so that intermediate values stay in registers or the first-level cache.
// Device-independent: the CPU runs a group tile by tile, for GPUs a kernel is generated from it.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// How many elements a value of a group has: one per element of the domain, one per row of it, one per column, or one
// in total. The last two are sums over all rows or over all elements, which no other member reads.
enum class Level : std::uint8_t { full, row, column, all };

struct Member {
  std::int32_t node = 0;
  Level level = Level::full;
};

// The members are pointwise functions, casts and random numbers (if contiguous in their whole value) over one shape,
// the domain; nodes that combine its rows: reductions over the trailing dims, gathers of one element of each row, and
// expands of one number per row back over the row; and, if the limits allow them, sums over all rows or all elements.
// Reshapes and other views are not members: a group reads their results, with any strides.
struct Group {
  ir::Shape domain;
  std::int64_t row_size = 1;    // elements of a row, if there are rows or columns
  ir::Shape row_shape;          // of values with one number per row; rank 0 if there are no rows
  std::vector<Member> members;  // in program order

  bool has_rows() const { return row_size > 1; }
};

}  // namespace burn::compile
