// A pass that lets sums and products of narrow integers and bools read them as they are, instead of a copy in i64.
#pragma once

#include <optional>

#include "ir/program.h"

namespace burn::compile {

// The program with every sum and product over a cast to i64 of bools, or of integers of at most 32 bits, reading what
// is cast; casts that nothing reads any more are left out. Such a Reduce has a result of another dtype, i64, than its
// operand, and kernels compute it in that: only plans have it, no program of a client. So the pass is the last one, as
// passes that compare ops would take it for the sum in the narrow dtype. Nothing: there is none.
std::optional<ir::Program> read_narrow(const ir::Program& program);

}  // namespace burn::compile
