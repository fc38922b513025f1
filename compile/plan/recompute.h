// A pass that trades arithmetic for memory: what is cheap to compute is computed again where it is wanted, instead of
// being kept from one kernel to another. Backward passes want much of what forward passes had: the parts of an
// activation's formula, what a norm made of its input.
#pragma once

#include <memory>

#include "compile/plan/plan.h"

namespace burn::compile {

// What a device plans from: the program without dead nodes, equal ones merged (simplify), products turned
// (transposed.h), and, as far as the options say, with nodes marked Node::recompute in the place of large values that
// one kernel would write and another read: pointwise functions and casts whose operands, all the way back to what is in
// memory anyway, take no more bytes than they themselves. Last, sums read narrow integers as they are (narrow_sums.h).
ir::Program prepare(const ir::Program& program, const PlanOptions& options);
// The same; the given one where that is the program as it is.
std::shared_ptr<const ir::Program> prepare(std::shared_ptr<const ir::Program> program, const PlanOptions& options);

}  // namespace burn::compile
