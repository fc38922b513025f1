// Finds products with a neighbour that libraries compute in the same call: a bias, or the sums that are the gradient of
// one.
#pragma once

#include <string>

#include "compile/plan/plan.h"

namespace burn::compile {

// Makes one step of each such pair. What is already part of a group is left there, as its kernel runs anyway. Requires:
// steps in order, last uses not found yet. About linear in the program's size.
void join_products(const ir::Program& program, Plan& plan);

// "matmul with bias", ...
std::string to_string(const ProductWithEpilogue& product, const ir::Program& program);

}  // namespace burn::compile
