// A pass that trades arithmetic for memory: values that are cheap to compute are recomputed in the kernels that read
// them, instead of being stored between kernels. Backward passes read many values of forward passes: intermediate
// values of an activation's formula, the normalised input of a norm.
#pragma once

#include <memory>

#include "compile/plan/plan.h"

namespace burn::compile {

// Runs all passes before planning. Removes dead nodes and merges equal ones (simplify), transposes products
// (transposed.h), and, as the options say, recomputes large values that one kernel would write and another read, by
// nodes marked Node::recompute: pointwise functions and casts whose operands, traced back to values that are in memory
// in any case, take no more bytes than the value itself. Last, makes sums read narrow integers directly
// (narrow_sums.h).
ir::Program prepare(const ir::Program& program, const PlanOptions& options);
// The same; returns the given program if nothing changes.
std::shared_ptr<const ir::Program> prepare(std::shared_ptr<const ir::Program> program, const PlanOptions& options);

}  // namespace burn::compile
