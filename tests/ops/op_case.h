// What the tests know of one op, in one file: tests/ops/cases/<op>.cc has its rule of the reference
// (reference::rules::evaluate) and a function OpCase <op>_case(). CMake lists the files, so that a new one is a new
// case.
//
// Ops whose tests are by family have theirs in tests/ir, tests/reference/ and tests/ops/samples_*.cc instead.
#pragma once

#include <string>
#include <vector>

#include "tests/ops/samples.h"

namespace burn::testing {

// Types that an op takes, and what it gives: a valid use.
struct OpUse {
  ir::Op op;
  std::vector<ir::TensorType> operands, results;
};

// Types or attributes that its shape rule refuses, with the whole message.
struct OpRefusal {
  ir::Op op;
  std::vector<ir::TensorType> operands;
  std::string message;
};

struct OpCase {
  std::string op;
  std::vector<OpUse> uses;          // at least one
  std::vector<OpRefusal> refusals;  // `// <op> C1` above those that show a constraint of docs/ops.md
  std::vector<Sample> samples;      // programs that every backend is run on
};

const std::vector<OpCase>& op_cases();

}  // namespace burn::testing
