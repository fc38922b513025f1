// How much memory a run of a program takes, known before the run begins.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/stage.h"

namespace burn::backends::cpu {

// Bytes of the pool that are in use at the worst moment of a run, beyond those of its inputs: values and outputs that
// are alive, copies and work space of convolutions, less donated inputs that have been dropped or written over. Follows
// Execution step by step. Work space whose size a kernel decides while it runs is not in it; RunMeter measures that.
std::uint64_t planned_bytes(const ir::Program& program, const compile::Plan& plan, std::span<const Stage> stages);

}  // namespace burn::backends::cpu
