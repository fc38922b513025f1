// Programs of one op each, on operands so large that the op takes far longer than the tests' time limit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "proto/session.h"
#include "tests/session/programs.h"

namespace burn::session {

struct LongProgram {
  std::string op;    // by its name in ir::catalogue()
  std::string name;  // "conv f64"
  // Made only when needed, because the inputs are large. Tensor i is input i.
  struct Made {
    ProgramPtr program;
    std::vector<proto::HostTensor> inputs;
  };
  std::function<Made()> make;
};

// At least one for every structured op that computes.
std::vector<LongProgram> long_programs();
// Structured ops that do not compute: they make views and single numbers.
std::vector<std::string> instant_ops();

}  // namespace burn::session
