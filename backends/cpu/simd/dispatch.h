// Selects among the versions of a function that Highway compiles for several instruction sets.
#pragma once

#include "backends/cpu/simd/isa.h"

// The version of a function named in HWY_EXPORT for the widest vectors of this machine; that of the baseline if the
// machine, or BURN_ISA, has less than x86-64-v3.
#define BURN_BEST_VECTORS(function) \
  (burn::backends::cpu::runs_v3() ? HWY_DYNAMIC_DISPATCH(function) : HWY_STATIC_DISPATCH(function))
