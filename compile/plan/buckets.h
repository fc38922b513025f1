// Joins all-reduces of a plan into buckets, which are performed as one, and finds the step until which each collective
// may overlap with computation.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/plan/plan.h"

namespace burn::compile {

// Joins steps of all-reduces that have the same bucket number (other than 0), group, function and dtype into one step,
// PlanStep::bucket, at the position of the last of them. A step in between that reads a result of an earlier one ends
// that bucket; a step with an effect other than a bucketed all-reduce of the same group ends all open buckets.
// All-reduces of other buckets end none, so collectives are ordered by the last all-reduce of each bucket. Requires:
// steps in their final order, last uses not found yet.
void join_buckets(const ir::Program& program, Plan& plan);

// Per step: for a collective, the position of the first later step that must wait for it, because it reads a result or
// is a Commit, which must know what failed; the number of steps if there is none. -1 for other steps.
std::vector<std::int32_t> find_collective_ends(const ir::Program& program, const Plan& plan);

}  // namespace burn::compile
