#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

constexpr auto f32 = DType::f32;

// interpolate C1, C2, C3; interpolate_grad C1, C2, C3; all C2
TEST(ShapeRules, InterpolationResizesOneOrTwoDims) {
  EXPECT_EQ(inferred(Interpolate{{6, 8}}, {{DType::f16, {2, 3, 4, 5}}}), "f16[2, 3, 6, 8]");
  EXPECT_EQ(inferred(Interpolate{{1}}, {{f32, {0, 3, 4}}}), "f32[0, 3, 1]");
  EXPECT_EQ(inferred(InterpolateGrad{{4, 5}}, {{f32, {2, 3, 6, 8}}}), "f32[2, 3, 4, 5]");
  EXPECT_THAT(inferred(Interpolate{{6, 8}}, {{f32, {2, 3, 4}}}),
              HasSubstr("f32[2, 3, 4] is not [batch, channel, ...]"));
  EXPECT_THAT(inferred(Interpolate{{6, 8, 2}}, {{f32, {2, 3, 4, 5, 6}}}), HasSubstr("may be 1 or 2"));
  EXPECT_THAT(inferred(Interpolate{{}}, {{f32, {2, 3}}}), HasSubstr("may be 1 or 2"));
  EXPECT_THAT(inferred(Interpolate{{6}}, {{DType::i32, {2, 3, 4}}}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(InterpolateGrad{{6}}, {{DType::i32, {2, 3, 4}}}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(InterpolateGrad{{6}}, {{f32, {2, 3, 4, 5}}}), HasSubstr("with the 1 spatial dims"));
  EXPECT_THAT(inferred(Interpolate{{6, 8}}, {{f32, {2, 3, 0, 5}}}),
              HasSubstr("cannot go from size 0 to 6 in spatial dim 0"));
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31,
                                 std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THAT(inferred(Interpolate{{6, bad}}, {{f32, {2, 3, 4, 5}}}), HasSubstr("in spatial dim 1"));
    EXPECT_THAT(inferred(InterpolateGrad{{bad, 6}}, {{f32, {2, 3, 4, 5}}}), HasSubstr("in spatial dim 0"));
  }
  EXPECT_THAT(inferred(Interpolate{{2147483647, 2147483647}}, {{f32, {2, 3, 4, 5}}}), HasSubstr("interpolate"));
}

// banded_scan C1, C2, C3
TEST(ShapeRules, BandedScansTakeLatticesOfOneShape) {
  EXPECT_EQ(inferred(BandedScan{}, {{f32, {2, 5, 7}}, {f32, {2, 5, 3, 7}}}), "f32[2, 5, 7]");
  EXPECT_EQ(inferred(BandedScan{}, {{f32, {0, 5, 7}}, {f32, {0, 5, 0, 7}}}), "f32[0, 5, 7]");
  for (const Shape& other : {Shape{3, 5, 3, 7}, Shape{2, 4, 3, 7}, Shape{2, 5, 3, 6}, Shape{2, 5, 7}}) {
    EXPECT_THAT(inferred(BandedScan{}, {{f32, {2, 5, 7}}, {f32, other}}), HasSubstr("are not [n, rows, width]"));
  }
  EXPECT_THAT(inferred(BandedScan{}, {{f32, {2, 5, 7}}, {DType::f64, {2, 5, 3, 7}}}), HasSubstr("both the same"));
  EXPECT_THAT(inferred(BandedScan{}, {{DType::f16, {2, 5, 7}}, {DType::f16, {2, 5, 3, 7}}}),
              HasSubstr("takes f32 or f64"));
  EXPECT_THAT(inferred(BandedScan{}, {{f32, {2, 5, 7}}}), HasSubstr("banded_scan"));
}

// adaptive_max_pool C1, C2, C3
TEST(ShapeRules, AdaptiveMaxPoolsGiveValuesAndPositions) {
  EXPECT_EQ(inferred(AdaptiveMaxPool{{3, 4}}, {{DType::i32, {2, 3, 5, 6}}}), "i32[2, 3, 3, 4], i64[2, 3, 3, 4]");
  EXPECT_THAT(inferred(AdaptiveMaxPool{{0, 4}}, {{f32, {2, 3, 5, 6}}}), HasSubstr("cannot pool"));
  EXPECT_THAT(inferred(AdaptiveMaxPool{{3}}, {{f32, {2, 3, 5, 6}}}), HasSubstr("spatial dims"));
  EXPECT_THAT(inferred(AdaptiveMaxPool{{3, 4}}, {{DType::bool_, {2, 3, 5, 6}}}), HasSubstr("takes numbers"));
}

}  // namespace
}  // namespace burn::ir
