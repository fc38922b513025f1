// Lowers a whole program: goes through its plan, and has each step written down as commands.
#pragma once

#include "base/status.h"
#include "compile/lower/lowered.h"
#include "compile/plan/plan.h"

namespace burn::compile {

class Target;

// Expects a simplified program. Errors: UNIMPLEMENTED, naming the op and its call site.
Result<Lowered> lower_program(Target& target, const ir::Program& program, const Plan& plan);

}  // namespace burn::compile
