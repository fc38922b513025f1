// Which collectives of a plan are performed as one, and until when each may go on beside what is computed.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/plan/plan.h"

namespace burn::compile {

// Joins steps of all-reduces that have the same bucket (other than 0), group, function and dtype to one step in the
// place of the last of them, PlanStep::bucket. A step between that reads a result of an earlier one ends the bucket;
// one that has another effect than an all-reduce of the group ends all that are open. Those of other buckets do not: so
// the order of collectives is that of the last of each bucket. Requires: steps in their order, without last uses.
void join_buckets(const ir::Program& program, Plan& plan);

// Per step: of a collective, the position of the first step behind it that its results have to be there for: that reads
// one, or is a Commit, which has to know what failed; the number of steps where there is none. Of other steps -1.
std::vector<std::int32_t> find_collective_ends(const ir::Program& program, const Plan& plan);

}  // namespace burn::compile
