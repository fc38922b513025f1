// Functions that Highway compiles for several instruction sets: which of them runs.
#pragma once

#include "backends/cpu/simd/isa.h"

// Of a function named in HWY_EXPORT the version for the widest vectors here; that of the baseline where the machine, or
// BURN_ISA, has less than x86-64-v3.
#define BURN_BEST_VECTORS(function) \
  (burn::backends::cpu::runs_v3() ? HWY_DYNAMIC_DISPATCH(function) : HWY_STATIC_DISPATCH(function))
