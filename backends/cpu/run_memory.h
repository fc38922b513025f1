// How much memory a run of a program takes, known before the run begins.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/stage.h"

namespace burn::backends::cpu {

// Maximum bytes of the pool in use at one time during a run, beyond those of its inputs: live values and outputs,
// copies and work space of convolutions, less donated inputs that have been dropped or overwritten. Simulates Execution
// step by step. Work space whose size a kernel decides while it runs is not included; RunMeter measures that.
std::uint64_t planned_bytes(const ir::Program& program, const compile::Plan& plan, std::span<const Stage> stages);

}  // namespace burn::backends::cpu
