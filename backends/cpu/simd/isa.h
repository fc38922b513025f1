// Which instruction sets inner loops are compiled for, and which of them this machine runs.
#pragma once

// GCC compiles parts of a file for another instruction set, also templates; others use the baseline alone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BURN_HAS_LEVELS 1
#else
#define BURN_HAS_LEVELS 0
#endif

namespace burn::backends::cpu {

// x86-64-v3: AVX2, FMA, F16C. BURN_ISA=baseline says no, so that the baseline can be tested on any machine.
bool runs_v3();

// x86-64-v4: AVX-512. BURN_ISA=v3 says no, for the same reason.
bool runs_v4();

}  // namespace burn::backends::cpu

// The best variant of a function or table that every instruction set has.
#if BURN_HAS_LEVELS
#define BURN_BEST(symbol) (runs_v4() ? v4::symbol : runs_v3() ? v3::symbol : baseline::symbol)
#else
#define BURN_BEST(symbol) (baseline::symbol)
#endif
