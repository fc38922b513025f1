// Operands that the shape rules of factorisations and Fourier transforms reject.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using ::testing::HasSubstr;

constexpr auto f32 = DType::f32;
constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();

// cholesky C1, C2, C3; lu C1, C2; qr C1, C2; svd C1, C2; eigh C1, C2, C3; det C1, C2, C3
TEST(ShapeRules, FactorisationsTakeMatricesOfReals) {
  const TensorType vector{f32, {3}}, half{DType::f16, {3, 3}}, whole{DType::i64, {3, 3}}, wide{f32, {2, 3}};
  EXPECT_EQ(inferred(Lu{}, {vector}), "lu: takes matrices, got f32[3]");
  EXPECT_EQ(inferred(Svd{}, {half}), "svd: takes f32 or f64, got f16[3, 3]");
  EXPECT_EQ(inferred(Qr{}, {whole}), "qr: takes f32 or f64, got i64[3, 3]");
  for (const auto& op : {Op(Cholesky{}), Op(Lu{}), Op(Qr{}), Op(Svd{}), Op(Eigh{}), Op(Det{})}) {
    EXPECT_THAT(inferred(op, {vector}), HasSubstr("takes matrices, got f32[3]"));
    EXPECT_THAT(inferred(op, {half}), HasSubstr("takes f32 or f64, got f16[3, 3]"));
  }
  for (const auto& op : {Op(Cholesky{}), Op(Eigh{}), Op(Det{})})
    EXPECT_THAT(inferred(op, {wide}), HasSubstr("takes square matrices, got f32[2, 3]"));
  EXPECT_THAT(inferred(Det{}, {wide, wide}), HasSubstr("takes 1 operand, got 2"));
}

// all C2
TEST(ShapeRules, FactorisationsOfEmptyMatricesHaveShapes) {
  EXPECT_EQ(inferred(Lu{}, {{f32, {0, 3}}}), "f32[0, 3], i64[0], f32[]");
  EXPECT_EQ(inferred(Svd{}, {{f32, {3, 0}}}), "f32[3, 0], f32[0], f32[0, 0]");
  EXPECT_EQ(inferred(Qr{false}, {{f32, {3, 0}}}), "f32[3, 3], f32[3, 0]");
  EXPECT_EQ(inferred(Det{}, {{f32, {2, 0, 0}}}), "f32[2]");
  const TensorType tall{f32, {std::int64_t{1} << 40, 0}};
  EXPECT_THAT(inferred(Qr{false}, {tall}), HasSubstr("too many elements"))
      << "the full Q has elements where x has none";
}

// solve C1, C2, C3, C4, C5; solve_triangular C1, C2, C3, C4, C5
TEST(ShapeRules, RightHandSidesFitTheirMatrices) {
  const TensorType a{f32, {2, 3, 3}};
  for (const auto& op : {Op(Solve{}), Op(SolveTriangular{})}) {
    EXPECT_EQ(inferred(op, {a, {f32, {2, 3, 0}}}), "f32[2, 3, 0]");
    EXPECT_THAT(inferred(op, {a, {f32, {2, 4, 1}}}), HasSubstr("f32[2, 4, 1] do not fit matrices f32[2, 3, 3]"));
    EXPECT_THAT(inferred(op, {a, {f32, {1, 3, 1}}}), HasSubstr("do not fit"));
    EXPECT_THAT(inferred(op, {a, {f32, {3, 1}}}), HasSubstr("do not fit"));
    EXPECT_THAT(inferred(op, {a, {DType::f64, {2, 3, 1}}}), HasSubstr("dtypes differ"));
    EXPECT_THAT(inferred(op, {{DType::f16, {3, 3}}, {DType::f16, {3, 1}}}), HasSubstr("takes f32 or f64"));
    EXPECT_THAT(inferred(op, {{f32, {3}}, {f32, {3}}}), HasSubstr("takes matrices"));
    EXPECT_THAT(inferred(op, {{f32, {2, 3}}, {f32, {2, 1}}}), HasSubstr("takes square matrices"));
  }
}

// fft C1, C2, C3; real_fft C1, C2, C3
TEST(ShapeRules, FourierTransformsTakeTwoPartsThatAreAlike) {
  const TensorType x{f32, {2, 8}};
  EXPECT_EQ(inferred(Fft{1, false}, {x, {f32, {2, 7}}}),
            "fft: real parts f32[2, 8] and imaginary parts f32[2, 7] differ");
  EXPECT_THAT(inferred(Fft{1, false}, {x, {DType::f64, {2, 8}}}), HasSubstr("differ"));
  EXPECT_THAT(inferred(Fft{2, false}, {x, x}), HasSubstr("axis 2 is out of range"));
  EXPECT_THAT(inferred(Fft{-1, false}, {x, x}), HasSubstr("out of range"));
  EXPECT_THAT(inferred(Fft{0, false}, {{DType::f16, {4}}, {DType::f16, {4}}}), HasSubstr("takes f32 or f64"));
  EXPECT_THAT(inferred(RealFft{0}, {{DType::bf16, {4}}}), HasSubstr("takes f32 or f64"));
  EXPECT_THAT(inferred(RealFft{2}, {x}), HasSubstr("out of range"));
  EXPECT_EQ(inferred(RealFft{0}, {{f32, {0, 3}}}), "real_fft: axis 0 of f32[0, 3] is empty");
}

// inverse_real_fft C1, C2, C3, C4
TEST(ShapeRules, InverseRealTransformsHaveTheLengthThatTheirSpectrumHas) {
  const TensorType half{f32, {2, 4}};
  EXPECT_EQ(inferred(InverseRealFft{1, 6}, {half, half}), "f32[2, 6]");
  EXPECT_EQ(inferred(InverseRealFft{1, 7}, {half, half}), "f32[2, 7]");
  EXPECT_THAT(inferred(InverseRealFft{0, 6}, {{DType::f16, {4}}, {DType::f16, {4}}}), HasSubstr("takes f32 or f64"));
  EXPECT_THAT(inferred(InverseRealFft{1, 6}, {half, {f32, {2, 3}}}), HasSubstr("differ"));
  EXPECT_THAT(inferred(InverseRealFft{2, 6}, {half, half}), HasSubstr("out of range"));
  for (const auto length : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{8}, kHuge, -kHuge})
    EXPECT_THAT(inferred(InverseRealFft{1, length}, {half, half}), HasSubstr("real numbers along axis 1")) << length;
}

}  // namespace
}  // namespace burn::ir
