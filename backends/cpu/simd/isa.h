// Which instruction sets inner loops are compiled for, and which of them this machine runs.
#pragma once

#include <string_view>

#include "backends/cpu/simd/machine_level.h"
#include "base/status.h"

// BURN_ONLY_LEVEL: the one level that a file's loops are compiled for (a Level as a number) in a build with
// BURN_CPU_LEVELS=native; 0 where they are compiled for all levels.
#ifndef BURN_ONLY_LEVEL
#define BURN_ONLY_LEVEL 0
#endif

namespace burn::backends::cpu {

// x86-64-v3: AVX2, FMA, F16C. False with BURN_ISA=baseline, so that the baseline can be tested on any machine.
bool runs_v3();

// x86-64-v4: AVX-512. False with BURN_ISA=v3, for the same reason.
bool runs_v4();

// Whether the loops of this build run on this machine, at the level that BURN_ISA asks for. Only a build with
// BURN_CPU_LEVELS=native can lack them. Errors: FAILED_PRECONDITION.
Status check_level();

// The same for loops compiled for the level `only`, a processor of the level `machine`, and BURN_ISA=`wanted` (empty:
// not set).
Status check_only_level(Level only, Level machine, std::string_view wanted);

}  // namespace burn::backends::cpu

// The best variant for this machine of a function or table that exists for every instruction set.
#if !BURN_HAS_LEVELS || BURN_ONLY_LEVEL == 1
#define BURN_BEST(symbol) (baseline::symbol)
#elif BURN_ONLY_LEVEL == 3
#define BURN_BEST(symbol) (v3::symbol)
#elif BURN_ONLY_LEVEL == 4
#define BURN_BEST(symbol) (v4::symbol)
#else
#define BURN_BEST(symbol) (runs_v4() ? v4::symbol : runs_v3() ? v3::symbol : baseline::symbol)
#endif
