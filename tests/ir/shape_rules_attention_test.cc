#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

constexpr auto f32 = DType::f32;
const TensorType kQ{f32, {2, 3, 4}}, kK{f32, {2, 5, 4}}, kV{f32, {2, 5, 6}}, kY{f32, {2, 3, 6}}, kRows{f32, {2, 3, 1}};
const TensorType kMask{DType::bool_, {2, 3, 5}}, kBias{f32, {2, 3, 5}};

TEST(ShapeRules, AttentionHasARowForEveryQueryAndTheDepthOfTheValues) {
  EXPECT_EQ(inferred(Attention{}, {kQ, kK, kV}), "f32[2, 3, 6], f32[2, 3, 1]");
  EXPECT_EQ(inferred(Attention{}, {{f32, {3, 4}}, {f32, {0, 4}}, {f32, {0, 6}}}), "f32[3, 6], f32[3, 1]");
}

// attention C1, C2, C5; all C1
TEST(ShapeRules, AttentionTakesAMaskThenABias) {
  for (const auto& extras : std::vector<std::vector<TensorType>>{{kMask}, {kBias}, {kMask, kBias}}) {
    std::vector<TensorType> operands{kQ, kK, kV};
    operands.insert(operands.end(), extras.begin(), extras.end());
    EXPECT_EQ(inferred(Attention{}, operands), "f32[2, 3, 6], f32[2, 3, 1]");
  }
  EXPECT_THAT(inferred(Attention{}, {kQ, kK, kV, kBias, kMask}), HasSubstr("then a bool mask and a bias"));
  EXPECT_THAT(inferred(Attention{}, {kQ, kK, kV, kBias, kBias}), HasSubstr("the mask comes before the bias"));
  EXPECT_THAT(inferred(Attention{}, {kQ, kK, kV, {DType::bool_, {2, 5, 3}}}), HasSubstr("not the shape of the scores"));
  EXPECT_THAT(inferred(Attention{}, {kQ, kK, kV, kMask, kBias, kBias}), HasSubstr("takes 3 to 5 operands, got 6"));
}

// attention C1, C3, C4; all C1
TEST(ShapeRules, AttentionRefusesWhatDoesNotFit) {
  EXPECT_THAT(inferred(Attention{}, {kQ, {f32, {2, 5, 3}}, kV}), HasSubstr("queries and keys do not fit"));
  EXPECT_THAT(inferred(Attention{}, {kQ, {f32, {3, 5, 4}}, kV}), HasSubstr("queries and keys do not fit"));
  EXPECT_THAT(inferred(Attention{}, {kQ, kK, {f32, {2, 4, 6}}}), HasSubstr("do not fit"));
  EXPECT_THAT(inferred(Attention{}, {{f32, {3}}, {f32, {3}}, {f32, {3}}}), HasSubstr("takes matrices of one rank"));
  EXPECT_THAT(inferred(Attention{}, {{DType::i32, {3, 4}}, kK, kV}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(Attention{}, {kQ, {DType::f16, {2, 5, 4}}, kV}), HasSubstr("floats of one dtype"));
  EXPECT_THAT(inferred(Attention{}, {kQ, kK}), HasSubstr("takes 3 to 5 operands, got 2"));
}

// attention C6
TEST(ShapeRules, AttentionsStatisticsAreOfTheDtypeItComputesIn) {
  const TensorType half{DType::bf16, {3, 4}}, wide{DType::f64, {3, 4}};
  EXPECT_EQ(inferred(Attention{}, {half, half, half}), "bf16[3, 4], f32[3, 1]");
  EXPECT_EQ(inferred(Attention{}, {wide, wide, wide}), "f64[3, 4], f64[3, 1]");
}

// attention_grad C6, C7
TEST(ShapeRules, AttentionGradHasTheShapesOfItsOperands) {
  const auto grads = "f32[2, 3, 4], f32[2, 5, 4], f32[2, 5, 6]";
  EXPECT_EQ(inferred(AttentionGrad{}, {kQ, kK, kV, kY, kRows, kY}), grads);
  EXPECT_EQ(inferred(AttentionGrad{}, {kQ, kK, kV, kY, kRows, kY, kMask, kBias}), grads);
  EXPECT_THAT(inferred(AttentionGrad{}, {kQ, kK, kV, kY, kRows, kV}),
              HasSubstr("a result or its gradient does not fit"));
  EXPECT_THAT(inferred(AttentionGrad{}, {kQ, kK, kV, kY, kY, kY}), HasSubstr("a result or its gradient does not fit"));
  EXPECT_THAT(inferred(AttentionGrad{}, {kQ, kK, kV, kY, {DType::f64, kRows.shape}, kY}), HasSubstr("does not fit"));
  const TensorType full{f32, Dims::filled(kMaxRank, 1)};
  EXPECT_EQ(inferred(AttentionGrad{}, {full, full, full, full, full, full}),
            to_string(full) + ", " + to_string(full) + ", " + to_string(full));
}

// attention_grad C1, C2, C3, C4, C5
TEST(ShapeRules, AttentionGradRefusesWhatAttentionDoes) {
  const auto with = [](TensorType q, TensorType k, TensorType v, std::vector<TensorType> extras) {
    std::vector<TensorType> operands{q, k, v, kY, kRows, kY};
    operands.insert(operands.end(), extras.begin(), extras.end());
    return inferred(AttentionGrad{}, operands);
  };
  EXPECT_THAT(with({DType::i32, {2, 3, 4}}, kK, kV, {}), HasSubstr("takes floats"));
  EXPECT_THAT(with(kQ, {DType::f16, {2, 5, 4}}, kV, {}), HasSubstr("floats of one dtype"));
  EXPECT_THAT(with(kQ, kK, kV, {kBias, kBias}), HasSubstr("the mask comes before the bias"));
  EXPECT_THAT(with(kQ, {f32, {5, 4}}, kV, {}), HasSubstr("takes matrices of one rank"));
  EXPECT_THAT(with(kQ, {f32, {2, 5, 3}}, kV, {}), HasSubstr("queries and keys do not fit"));
  EXPECT_THAT(with(kQ, kK, {f32, {2, 4, 6}}, {}), HasSubstr("keys and values do not fit"));
  EXPECT_THAT(with(kQ, kK, kV, {{DType::bool_, {2, 5, 3}}}), HasSubstr("not the shape of the scores"));
}

}  // namespace
}  // namespace burn::ir
