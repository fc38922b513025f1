// Joins products with a neighbouring node that libraries compute in the same call: the addition of a bias, or the sums
// that are the gradient of a bias.
#pragma once

#include <string>

#include "compile/plan/plan.h"

namespace burn::compile {

// Makes one step of each such pair. Nodes that are already in a group are left there, because the group's kernel runs
// in any case. Requires: steps in order, last uses not found yet. Takes time about linear in the program's size.
void join_products(const ir::Program& program, Plan& plan);

// "matmul with bias", ...
std::string to_string(const ProductWithEpilogue& product, const ir::Program& program);

}  // namespace burn::compile
