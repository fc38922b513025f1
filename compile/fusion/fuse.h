// Finds the nodes of a program that may run as one kernel.
#pragma once

#include <vector>

#include "compile/fusion/group.h"

namespace burn::compile {

struct FuseLimits {
  std::size_t max_members = 128;           // per group
  std::int64_t max_row_size = 8192;        // elements of a row that still count as near memory
  std::int64_t min_rows = 8;               // fewer long rows than these would leave threads idle
  std::int64_t min_summed_rows = 0;        // rows from which on sums over all of them are members; 0: they never are
  std::int64_t max_summed_columns = 8192;  // columns of such sums: whoever sums has to have room for them
  bool sums_beside_rows = true;            // whether a group may have those and combine rows, too
  bool sums_all = false;                   // whether sums over the whole domain are
  bool takes_sources = false;              // whether a group takes in what only it reads, also as numbers of its rows
  std::int64_t small_domain = 1 << 14;     // elements that one thread is done with at once, however few the rows
};

// Groups of at least two nodes that compute something. A node is in at most one; contracting every group to one node
// leaves a graph without cycles. Expects a program without dead nodes. About linear in its size.
std::vector<Group> find_groups(const ir::Program& program, const FuseLimits& limits = {});

}  // namespace burn::compile
