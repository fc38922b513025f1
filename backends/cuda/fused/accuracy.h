// Which members of a group may be computed by shorter formulas (kernels/coarse.h), because all that becomes of their
// numbers is rounded to 16 bits.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "backends/cuda/fused/group_plan.h"

namespace burn::backends::cuda {

// Of the nodes in `members`. `seen`: what of them is written, or combined with others, as it is.
std::set<std::int32_t> coarse_members(const GroupPlan& plan, const std::set<std::int32_t>& members,
                                      std::span<const ir::Ref> seen);

// What a reduction over rows must not be given coarsely: its operand; or, where that is an exp of what the row's
// largest number was taken from, and is added up, what the exp is of. The largest term is 1 then, and the error of one
// e^-d is below d 2^-24 + 2^-22 of itself: less than 2^-22 of the sum.
ir::Ref wanted_exactly(const GroupPlan& plan, const ir::Reduce& reduce, ir::Ref operand);

// The name of the shorter formula for a member's function; null: there is none.
const char* coarse_function(const GroupPlan& plan, const codegen::Member& member, ir::PointwiseFn fn);

}  // namespace burn::backends::cuda
