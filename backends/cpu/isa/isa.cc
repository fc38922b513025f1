#include "backends/cpu/isa/isa.h"

#include "base/settings.h"

namespace burn::backends::cpu {

#if BURN_HAS_V3
namespace {

bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
}

bool baseline_is_wanted() { return setting(Setting::isa) == "baseline"; }

}  // namespace
#endif

bool runs_v3() {
#if BURN_HAS_V3
  static const bool runs = has_v3() && !baseline_is_wanted();
  return runs;
#else
  return false;
#endif
}

}  // namespace burn::backends::cpu
