// Finds the nodes of a program that may run as one kernel.
#pragma once

#include <vector>

#include "compile/fusion/group.h"

namespace burn::compile {

struct FuseLimits {
  std::size_t max_members = 128;           // per group
  std::int64_t max_row_size = 8192;        // elements; longer rows do not fit in near memory
  std::int64_t min_rows = 8;               // fewer long rows would leave threads idle
  std::int64_t min_summed_rows = 0;        // sums over at least this many rows become members; 0: none do
  std::int64_t max_summed_columns = 8192;  // columns of such sums: the kernel needs memory for each of them
  bool sums_beside_rows = true;            // whether a group with such sums may also combine rows
  bool sums_all = false;                   // whether sums over the whole domain become members
  bool absorbs_producers = false;       // whether a group absorbs groups that only it reads, also as values of its rows
  std::int64_t small_domain = 1 << 14;  // elements; min_rows does not apply to domains of at most this size
};

// Returns groups of at least two nodes that compute something. A node is in at most one group, and contracting every
// group to one node leaves a graph without cycles. Requires: a program without dead nodes. Takes time about linear in
// its size.
std::vector<Group> find_groups(const ir::Program& program, const FuseLimits& limits = {});

}  // namespace burn::compile
