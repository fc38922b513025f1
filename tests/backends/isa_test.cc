#include "backends/cpu/simd/isa.h"

#include <gtest/gtest.h>

namespace burn::backends::cpu {
namespace {

constexpr Level kLevels[] = {Level::baseline, Level::v3, Level::v4};

TEST(LoopsOfOneLevel, RunOnProcessorsOfThatLevelAndAbove) {
  for (const auto only : kLevels) {
    for (const auto machine : kLevels) {
      EXPECT_EQ(check_only_level(only, machine, "").ok(), machine >= only)
          << static_cast<int>(only) << " on " << static_cast<int>(machine);
    }
  }
}

TEST(LoopsOfOneLevel, NameBothLevelsWhereTheProcessorHasLess) {
  EXPECT_EQ(check_only_level(Level::v4, Level::v3, ""),
            failed_precondition("the CPU's loops are compiled for x86-64-v4 alone, and this processor has x86-64-v3: "
                                "build with -DBURN_CPU_LEVELS=all"));
}

TEST(LoopsOfOneLevel, CannotGiveWayToThoseOfALowerLevel) {
  EXPECT_EQ(check_only_level(Level::v4, Level::v4, "v3"),
            failed_precondition("BURN_ISA=v3, and the CPU's loops are compiled for x86-64-v4 alone: build with "
                                "-DBURN_CPU_LEVELS=all"));
  EXPECT_FALSE(check_only_level(Level::v4, Level::v4, "baseline").ok());
  EXPECT_FALSE(check_only_level(Level::v3, Level::v4, "baseline").ok());
}

TEST(LoopsOfOneLevel, ServeTheLevelThatIsAskedFor) {
  EXPECT_TRUE(check_only_level(Level::v3, Level::v4, "v3").ok());
  EXPECT_TRUE(check_only_level(Level::baseline, Level::v4, "v3").ok());
  EXPECT_TRUE(check_only_level(Level::baseline, Level::v4, "baseline").ok());
}

TEST(LoopsOfThisBuild, RunOnThisMachine) { EXPECT_TRUE(check_level().ok()); }

}  // namespace
}  // namespace burn::backends::cpu
