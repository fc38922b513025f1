#include "ir/semantics/prelude.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace burn::ir {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
class PreludeIntegers : public testing::Test {};
using Types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(PreludeIntegers, Types);

TYPED_TEST(PreludeIntegers, NothingTrapsAndTheSmallestNumberWraps) {
  using T = TypeParam;
  const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const T minus_one = static_cast<T>(-1);  // the largest, where there is no sign
  EXPECT_EQ(prelude::abs(least), least);
  EXPECT_EQ(prelude::div(most, T{0}), 0);
  EXPECT_EQ(prelude::remainder(most, T{0}), 0);
  EXPECT_EQ(prelude::div(least, minus_one), least);
  EXPECT_EQ(prelude::remainder(least, minus_one), 0);
  EXPECT_EQ(prelude::pow(most, T{2}), 1) << "(2^n - 1)^2 is 1 modulo 2^n";
  EXPECT_EQ(prelude::pow(T{0}, T{0}), 1);
  EXPECT_EQ(prelude::sign(T{0}), 0);
  EXPECT_EQ(prelude::sign(most), 1);
}

TYPED_TEST(PreludeIntegers, ShiftsPastTheWidthPushEveryBitOut) {
  using T = TypeParam;
  constexpr int kWidth = sizeof(T) * 8;
  EXPECT_EQ(prelude::shift_left(T{1}, T{kWidth - 1}), static_cast<T>(std::uint64_t{1} << (kWidth - 1)));
  EXPECT_EQ(prelude::shift_left(T{1}, T{kWidth}), 0);
  EXPECT_EQ(prelude::shift_left(static_cast<T>(-1), T{kWidth - 1}), static_cast<T>(std::uint64_t{1} << (kWidth - 1)));
  EXPECT_EQ(prelude::shift_right(std::numeric_limits<T>::max(), T{kWidth}), 0);
  EXPECT_EQ(prelude::shift_right(T{4}, T{1}), 2);
  EXPECT_EQ(prelude::shift_left(T{1}, static_cast<T>(-1)), 0);
}

TEST(Prelude, RightShiftKeepsTheSign) {
  EXPECT_EQ(prelude::shift_right(std::int32_t{-8}, std::int32_t{1}), -4);
  EXPECT_EQ(prelude::shift_right(std::int8_t{-8}, std::int8_t{100}), -1);
}

TEST(Prelude, DivisionGoesTowardZeroAndRemainderTakesTheSignOfTheDivisor) {
  EXPECT_EQ(prelude::div(-7, 2), -3);
  EXPECT_EQ(prelude::remainder(-7, 2), 1);
  EXPECT_EQ(prelude::remainder(7, -2), -1);
  EXPECT_EQ(prelude::remainder(-6, 2), 0);
  EXPECT_EQ(prelude::remainder(std::int8_t{-128}, std::int8_t{127}), 126);
  EXPECT_EQ(prelude::remainder(-7.5f, 2.0f), 0.5f);
  EXPECT_EQ(prelude::remainder(7.5f, -2.0f), -0.5f);
  EXPECT_TRUE(std::isnan(prelude::remainder(1.0f, 0.0f)));
}

TEST(Prelude, IntegerPowersWrapAndNegativeExponentsGiveWholeParts) {
  EXPECT_EQ(prelude::pow(3, 4), 81);
  EXPECT_EQ(prelude::pow(-2, 3), -8);
  EXPECT_EQ(prelude::pow(2, -1), 0);
  EXPECT_EQ(prelude::pow(1, -5), 1);
  EXPECT_EQ(prelude::pow(-1, -5), -1);
  EXPECT_EQ(prelude::pow(-1, -4), 1);
  EXPECT_EQ(prelude::pow(std::uint16_t{65535}, std::uint16_t{3}), 65535);
  EXPECT_EQ(prelude::pow(std::int64_t{2}, std::int64_t{64}), 0);
}

TEST(Prelude, MaxAndMinKeepTheFirstWhereTheyCannotCompare) {
  EXPECT_TRUE(std::isnan(prelude::max(kNan, 1.0f)));
  EXPECT_EQ(prelude::max(1.0f, kNan), 1.0f);
  EXPECT_TRUE(std::isnan(prelude::min(kNan, 1.0f)));
  EXPECT_EQ(prelude::min(1.0f, kNan), 1.0f);
  EXPECT_EQ(prelude::max(-kInf, 1.0f), 1.0f);
  EXPECT_EQ(prelude::min(std::int8_t{-3}, 4), -3);
}

TEST(Prelude, SignAndAbsOfFloats) {
  EXPECT_EQ(prelude::sign(-kInf), -1.0f);
  EXPECT_EQ(prelude::sign(-0.0f), 0.0f);
  EXPECT_EQ(prelude::sign(kNan), 0.0f);
  EXPECT_FALSE(std::signbit(prelude::abs(-0.0f)));
  EXPECT_EQ(prelude::infinity(1.0), std::numeric_limits<double>::infinity());
}

TEST(Prelude, SelectChooses) {
  EXPECT_EQ(prelude::select(true, 1, 2), 1);
  EXPECT_EQ(prelude::select(false, 1, 2), 2);
}

}  // namespace
}  // namespace burn::ir
