// The levels of x86-64 that loops are compiled for, and which of them this processor has. Includes nothing, as
// cmake/BurnCpuLevels.cmake compiles it when the build is configured.
#pragma once

// GCC compiles parts of a file, also templates, for another instruction set; with other compilers only the baseline is
// used.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define BURN_HAS_LEVELS 1
#else
#define BURN_HAS_LEVELS 0
#endif

namespace burn::backends::cpu {

enum class Level { baseline = 1, v3 = 3, v4 = 4 };  // any x86-64; with AVX2, FMA and F16C; with AVX-512

#if BURN_HAS_LEVELS
inline Level machine_level() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("f16c") || !__builtin_cpu_supports("lzcnt"))
    return Level::baseline;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return Level::v3;
  return Level::v4;
}
#else
inline Level machine_level() { return Level::baseline; }
#endif

}  // namespace burn::backends::cpu
