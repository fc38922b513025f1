// Programs made up at random, for properties that every program has.
#pragma once

#include <random>

#include "ir/program.h"
#include "tests/reference/interpreter.h"

namespace burn::testing {

struct RandomProgram {
  ir::Program program;
  std::vector<reference::Tensor> inputs;
};

// Some dozens of nodes of the kinds that fusion looks at, over one domain, its rows and single numbers, with views,
// casts, matrix products and row reductions between them; some of the values are outputs.
RandomProgram random_program(std::uint32_t seed);

}  // namespace burn::testing
