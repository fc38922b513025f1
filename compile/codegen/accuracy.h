// Which members of a group may be computed by shorter formulas (kernels/coarse.h): those of whose numbers all that
// becomes is rounded to 16 bits, and exponentials of a softmax that are only added up.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "compile/codegen/group_plan.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile {

// Of the nodes in `members`. `seen`: what of them is written, or combined with others, as it is.
std::set<std::int32_t> coarse_members(const GroupPlan& plan, const std::set<std::int32_t>& members,
                                      std::span<const ir::Ref> seen);

// Of a group without rows.
std::set<std::int32_t> coarse_elements(const GroupPlan& plan);

// From which value on all must be exact for a reduction over rows: its operand; or, where that is an exp of what the
// row's largest number was taken from, and is added up, what the exp is of. The largest term is 1 then, and the error
// of one e^-d is below d 2^-24 + 2^-22 of itself: less than 2^-20 of the sum, as the mean d grows with the logarithm of
// how many there are.
ir::Ref exact_value_for(const GroupPlan& plan, const ir::Reduce& reduce, ir::Ref operand);

// The shorter formula for a member's function; nothing: there is none.
std::optional<kernel::Function> coarse_function(const GroupPlan& plan, const Member& member, ir::PointwiseFn fn);

}  // namespace burn::compile
