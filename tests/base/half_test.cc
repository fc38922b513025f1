#include "base/half.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace burn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
T from_bits(std::uint32_t bits) {
  T value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

template <typename T>
class SixteenBits : public testing::Test {};
using Types = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SixteenBits, Types);

TYPED_TEST(SixteenBits, EveryNumberSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto value = static_cast<float>(from_bits<TypeParam>(bits));
    const TypeParam back{value};
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      EXPECT_EQ(back.bits, bits);
    }
  }
}

TYPED_TEST(SixteenBits, RoundsToTheNearestAndHalvesToEven) {
  // Neighbouring finite numbers, the point halfway between them, and a hair to both sides of it.
  for (std::uint32_t bits = 0; static_cast<float>(from_bits<TypeParam>(bits + 1)) < kInfinity; ++bits) {
    const double low = static_cast<float>(from_bits<TypeParam>(bits));
    const double high = static_cast<float>(from_bits<TypeParam>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    if (middle == low) continue;  // bfloat16's subnormals halve below float's
    EXPECT_EQ(TypeParam{middle}.bits, bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(TypeParam{std::nextafter(middle, 0.0f)}.bits, bits);
    EXPECT_EQ(TypeParam{std::nextafter(middle, kInfinity)}.bits, bits + 1);
    EXPECT_EQ(TypeParam{-middle}.bits, TypeParam{middle}.bits | 0x8000);
  }
}

TYPED_TEST(SixteenBits, InfinityAndNanStay) {
  EXPECT_EQ(static_cast<float>(TypeParam{kInfinity}), kInfinity);
  EXPECT_EQ(static_cast<float>(TypeParam{-kInfinity}), -kInfinity);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam{std::numeric_limits<float>::quiet_NaN()})));
  const auto last_nan = std::bit_cast<float>(0x7fffffffu), first_nan = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam{last_nan})));
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam{first_nan})));
}

TYPED_TEST(SixteenBits, ZeroKeepsItsSign) {
  EXPECT_EQ(TypeParam{0.0f}.bits, 0);
  EXPECT_EQ(TypeParam{-0.0f}.bits, 0x8000);
}

TEST(Half, OverflowsToInfinityFromHalfwayPastTheLargest) {
  EXPECT_EQ(static_cast<float>(Half{65504.0f}), 65504.0f);
  EXPECT_EQ(static_cast<float>(Half{std::nextafter(65520.0f, 0.0f)}), 65504.0f);
  EXPECT_EQ(static_cast<float>(Half{65520.0f}), kInfinity);
  EXPECT_EQ(static_cast<float>(Half{-1e30f}), -kInfinity);
}

TEST(Half, UnderflowsThroughSubnormals) {
  EXPECT_EQ(Half{0x1p-24f}.bits, 1);
  EXPECT_EQ(Half{0x1p-25f}.bits, 0);
  EXPECT_EQ(Half{0x1.8p-24f}.bits, 2);
}

TEST(BFloat16, LargestFloatRoundsToInfinity) {
  EXPECT_EQ(static_cast<float>(BFloat16{std::numeric_limits<float>::max()}), kInfinity);
}

}  // namespace
}  // namespace burn
