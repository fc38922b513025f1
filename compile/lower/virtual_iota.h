// Iotas that formulas need no memory for, as they have an element's position anyhow.
#pragma once

#include <vector>

#include "compile/plan/plan.h"
#include "compile/plan/views.h"

namespace burn::compile {

struct CountedIotas {
  std::vector<bool> counted;  // per value: an Iota whose numbers are positions
  std::vector<bool> stored;   // per value: something else than a formula reads it, from memory
};

CountedIotas find_counted(const ir::Program& program, const Plan& plan, const std::vector<ValueView>& views);

}  // namespace burn::compile
