// What each pass over a row computes and reads, element by element.
#pragma once

#include <cstdint>
#include <set>

#include "compile/codegen/group_plan.h"

namespace burn::compile {

struct PassNeeds {
  std::set<std::int32_t> members;  // nodes with a value for each element
  std::set<std::size_t> reads;     // positions in the plan's
};
// Of one value.
PassNeeds needs_of(const GroupPlan& plan, ir::Ref ref);
// Of the pass of a stage: for the reductions that it makes, the results that it writes and the columns that it sums.
PassNeeds needs_of_pass(const GroupPlan& plan, int stage);

// The reads that more than one pass has need of.
std::set<std::size_t> read_in_several_passes(const GroupPlan& plan);

}  // namespace burn::compile
