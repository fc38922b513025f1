// Compiles inner loops once per instruction set, or, in a build with BURN_CPU_LEVELS=native, for one only. In a .cc
// file, after all its includes:
//
//   #define BURN_ISA_FILE "backends/cpu/simd/some_loops.h"
//   #include "backends/cpu/simd/foreach.h"
//   ... BURN_BEST(some_function)(...) ...
//
// The file puts its contents into namespace burn::backends::cpu::BURN_ISA; BURN_ISA_BYTES is the size of the widest
// vectors. It may only include files of its kind: the linker could choose an inline function of a shared header,
// compiled for a newer machine, for code that runs on an older one. (Functions from outside are compiled for every
// machine; inlined into a loop they become part of it.)
#pragma once

#include "backends/cpu/simd/isa.h"

#if !BURN_HAS_LEVELS || BURN_ONLY_LEVEL <= 1
#define BURN_ISA baseline
#define BURN_ISA_BYTES 16
#include BURN_ISA_FILE
#undef BURN_ISA
#undef BURN_ISA_BYTES
#endif

#if BURN_HAS_LEVELS && (BURN_ONLY_LEVEL == 0 || BURN_ONLY_LEVEL == 3)
#pragma GCC push_options
#pragma GCC target("avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe")
#define BURN_ISA v3
#define BURN_ISA_BYTES 32
#include BURN_ISA_FILE
#undef BURN_ISA
#undef BURN_ISA_BYTES
#pragma GCC pop_options
#endif

#if BURN_HAS_LEVELS && (BURN_ONLY_LEVEL == 0 || BURN_ONLY_LEVEL == 4)
// Without this option GCC would use vectors of 256 bits for a processor that it does not know.
#pragma GCC push_options
#pragma GCC target( \
        "avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512")
#define BURN_ISA v4
#define BURN_ISA_BYTES 64
#include BURN_ISA_FILE
#undef BURN_ISA
#undef BURN_ISA_BYTES
#pragma GCC pop_options
#endif
