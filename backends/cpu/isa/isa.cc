#include "backends/cpu/isa/isa.h"

namespace burn::backends::cpu {

bool runs_v3() {
#if BURN_HAS_V3
  static const bool runs = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                           __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
  return runs;
#else
  return false;
#endif
}

}  // namespace burn::backends::cpu
