// Nodes of a program that run as one kernel, so that what passes between them never leaves the registers or the first
// cache. Device-independent: the CPU runs a group tile by tile, GPUs write a kernel from it.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program.h"

namespace burn::compile {

// How many elements a value of a group has: one per element of the domain; one per row of it; one per column, or one in
// all: sums over all rows, or everything, that no other member reads.
enum class Level : std::uint8_t { full, row, column, all };

struct Member {
  std::int32_t node = 0;
  Level level = Level::full;
};

// Pointwise functions, casts and random numbers (those that lie side by side in their whole value) over one shape, the
// domain, and what combines its rows: reductions over the trailing dims, gathers of one element of each row, and
// expands of one number per row back over the row; and sums over all rows or all elements, where limits ask for them.
// Reshapes and other views are not members: a group reads their results, with whatever strides those have.
struct Group {
  ir::Shape domain;
  std::int64_t row_size = 1;    // elements of a row, when there are rows or columns
  ir::Shape row_shape;          // of the values with one number per row; rank 0 when there are no rows
  std::vector<Member> members;  // in program order

  bool has_rows() const { return row_size > 1; }
};

}  // namespace burn::compile
