#include "backends/cpu/simd/isa.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include "base/settings.h"

namespace burn::backends::cpu {
namespace {

std::string_view name(Level level) {
  switch (level) {
    case Level::baseline:
      return "x86-64";
    case Level::v3:
      return "x86-64-v3";
    case Level::v4:
      return "x86-64-v4";
  }
  return "?";
}

#if BURN_HAS_LEVELS && !BURN_ONLY_LEVEL

// Called before any loop of Highway's is looked up, as these use the same level.
Level find_level() {
  const auto wanted = setting(Setting::isa);
  const auto highest = machine_level();
  if (wanted == "baseline" || highest == Level::baseline) return Level::baseline;
  if (wanted != "v3" && highest == Level::v4) return Level::v4;
  hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
  return Level::v3;
}

Level level() {
  static const Level found = find_level();
  return found;
}

#elif BURN_HAS_LEVELS
constexpr Level level() { return Level{BURN_ONLY_LEVEL}; }
#else
constexpr Level level() { return Level::baseline; }
#endif

}  // namespace

bool runs_v3() { return level() >= Level::v3; }
bool runs_v4() { return level() >= Level::v4; }

Status check_level() {
#if BURN_HAS_LEVELS && BURN_ONLY_LEVEL
  return check_only_level(level(), machine_level(), setting(Setting::isa));
#else
  return {};
#endif
}

Status check_only_level(Level only, Level machine, std::string_view wanted) {
  const auto highest_wanted = wanted == "baseline" ? Level::baseline : wanted == "v3" ? Level::v3 : Level::v4;
  if (machine < only) {
    return failed_precondition(
        fmt::format("the CPU's loops are compiled for {} alone, and this processor has {}: build with "
                    "-DBURN_CPU_LEVELS=all",
                    name(only), name(machine)));
  }
  if (highest_wanted < only) {
    return failed_precondition(
        fmt::format("BURN_ISA={}, and the CPU's loops are compiled for {} alone: build with -DBURN_CPU_LEVELS=all",
                    wanted, name(only)));
  }
  return {};
}

}  // namespace burn::backends::cpu
