#include "backends/cpu/simd/isa.h"

#include <hwy/targets.h>

#include "base/settings.h"

namespace burn::backends::cpu {

#if BURN_HAS_LEVELS
namespace {

bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
}

bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

enum class Level { baseline, v3, v4 };

// Before any loop of Highway's is looked up: those keep to the same level.
Level find_level() {
  const auto wanted = setting(Setting::isa);
  if (wanted == "baseline" || !has_v3()) return Level::baseline;
  if (wanted != "v3" && has_v4()) return Level::v4;
  hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  return Level::v3;
}

Level level() {
  static const Level found = find_level();
  return found;
}

}  // namespace

bool runs_v3() { return level() >= Level::v3; }
bool runs_v4() { return level() >= Level::v4; }
#else
bool runs_v3() { return false; }
bool runs_v4() { return false; }
#endif

}  // namespace burn::backends::cpu
