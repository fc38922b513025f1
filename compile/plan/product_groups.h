// Joins products with the groups that read them: a generated kernel computes the group from sums that are still in its
// registers, whereas a library would have to write them to memory first.
#pragma once

#include "compile/plan/plan.h"

namespace burn::compile {

// Makes one step of each product (MatMul) of at most `most_bytes` whose only reader is a group without rows, or a
// single function or cast, which becomes a group of one. Groups that take many instructions per element are not joined,
// because the product's kernel contains them once for each element that a thread sums up. Requires: steps in order,
// last uses not found yet. Takes time about linear in the program's size.
void join_product_groups(const ir::Program& program, std::uint64_t most_bytes, Plan& plan);

}  // namespace burn::compile
