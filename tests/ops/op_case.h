// Test data of one op in one file: tests/ops/cases/<op>.cc has its reference implementation
// (reference::rules::evaluate) and a function OpCase <op>_case(). CMake globs the files, so a new file adds a case.
//
// Ops that are tested by family have their data in tests/ir, tests/reference/ and tests/ops/samples_*.cc instead.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/ops/samples.h"

namespace burn::testing {

// A valid use of an op: its operand types and the result types.
struct OpUse {
  ir::Op op;
  std::vector<ir::TensorType> operands, results;
};

// Types or attributes that the op's shape rule rejects, with the complete message.
struct OpRefusal {
  ir::Op op;
  std::vector<ir::TensorType> operands;
  std::string message;
};

// A use that takes the CPU far longer than a run may (tests/session/every_op_ends_test.cc). `operands` makes the inputs
// on demand.
struct SlowUse {
  ir::Op op;
  std::function<std::vector<reference::Tensor>()> operands;
};

struct OpCase {
  std::string op;
  std::vector<OpUse> uses;          // at least one
  std::vector<OpRefusal> refusals;  // `// <op> C1` marks those that violate a constraint in docs/ops.md
  std::vector<Sample> samples;      // programs that every backend is tested with
  SlowUse slow;
};

const std::vector<OpCase>& op_cases();

}  // namespace burn::testing
