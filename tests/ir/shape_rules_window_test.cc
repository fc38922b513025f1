#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/op.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

constexpr auto f32 = DType::f32;
constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();

const Conv kConv{{1, 1}, {0, 0}, {0, 0}, {1, 1}, 1};
const MaxPool kPool{{2, 2}, {2, 2}, {0, 0}, {1, 1}, false};

// conv C5
TEST(ShapeRules, ConvSizesAreThoseOfCountedWindows) {
  for (std::int64_t in = 1; in <= 7; ++in) {
    for (int code = 0; code < 3 * 3 * 3 * 2; ++code) {
      const std::int64_t kernel = code % 3 + 1, stride = code / 3 % 3 + 1, pad = code / 9 % 3, dilation = code / 27 + 1;
      std::int64_t count = 0;  // windows inside pad zeros before and pad + 1 behind
      for (auto at = -pad; at + (kernel - 1) * dilation < in + pad + 1; at += stride) ++count;
      const auto type = infer_types(Conv{{stride}, {pad}, {pad + 1}, {dilation}, 1},
                                    std::vector<TensorType>{{f32, {1, 1, in}}, {f32, {1, 1, kernel}}});
      EXPECT_EQ(type.ok() ? (*type)[0].shape[2] : 0, count) << in << " " << kernel << " " << stride << " " << pad;
    }
  }
}

// conv C2, C3; conv_input_grad C2, C3; conv_weight_grad C2, C3
TEST(ShapeRules, ConvTakesOneToThreeSpatialDims) {
  EXPECT_EQ(inferred(Conv{{1}, {0}, {0}, {1}, 1}, {{f32, {2, 3, 9}}, {f32, {4, 3, 3}}}), "f32[2, 4, 7]");
  EXPECT_EQ(
      inferred(Conv{{1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}, 1}, {{f32, {2, 3, 5, 6, 7}}, {f32, {4, 3, 3, 3, 3}}}),
      "f32[2, 4, 3, 4, 5]");
  EXPECT_THAT(inferred(Conv{{}, {}, {}, {}, 1}, {{f32, {2, 3}}, {f32, {4, 3}}}), HasSubstr("spatial dims"));
  const Dims four{1, 1, 1, 1};
  EXPECT_THAT(inferred(Conv{four, four, four, four, 1}, {{f32, {1, 1, 4, 4, 4, 4}}, {f32, {1, 1, 1, 1, 1, 1}}}),
              HasSubstr("spatial dims"));
  EXPECT_THAT(inferred(kConv, {{f32, {2, 3, 9}}, {f32, {4, 3, 3}}}), HasSubstr("spatial dims"));
  EXPECT_THAT(inferred(Conv{{1, 1}, {0}, {0, 0}, {1, 1}, 1}, {{f32, {2, 3, 9, 9}}, {f32, {4, 3, 3, 3}}}),
              HasSubstr("[0] has 1 entries for 2 spatial dims"));
  const std::vector<TensorType> lines{{f32, {2, 4, 7}}, {f32, {4, 4, 3}}};
  EXPECT_THAT(inferred(ConvInputGrad{{1, 1}, {0, 0}, {0, 0}, {1, 1}, {9, 9}}, lines), HasSubstr("2 spatial dims"));
  EXPECT_THAT(inferred(ConvInputGrad{{1}, {0}, {0, 0}, {1}, {9}}, lines), HasSubstr("2 entries for 1 spatial dims"));
  EXPECT_THAT(inferred(ConvWeightGrad{{1, 1}, {0, 0}, {0, 0}, {1, 1}, {3, 3}}, lines), HasSubstr("2 spatial dims"));
  EXPECT_THAT(inferred(ConvWeightGrad{{1}, {0}, {0}, {}, {3}}, lines), HasSubstr("0 entries for 1 spatial dims"));
}

// conv C6, C7
TEST(ShapeRules, ConvChannelsDivideIntoGroups) {
  const TensorType x{f32, {2, 4, 5, 5}};
  const auto with = [&](std::int64_t groups, Shape weight) {
    Conv op = kConv;
    op.groups = groups;
    return inferred(op, {x, {f32, weight}});
  };
  EXPECT_EQ(with(1, {6, 4, 3, 3}), "f32[2, 6, 3, 3]");
  EXPECT_EQ(with(4, {8, 1, 3, 3}), "f32[2, 8, 3, 3]");
  EXPECT_THAT(with(3, {6, 4, 3, 3}), HasSubstr("3 groups do not divide 4 input and 6 output channels"));
  EXPECT_THAT(with(4, {6, 1, 3, 3}), HasSubstr("do not divide"));
  EXPECT_THAT(with(2, {6, 4, 3, 3}), HasSubstr("do not belong together"));
  for (const auto bad : {std::int64_t{0}, std::int64_t{-1}, kHuge, kLeast}) {
    EXPECT_THAT(with(bad, {6, 4, 3, 3}), HasSubstr("do not divide"));
  }
}

// conv C1; conv_input_grad C1; conv_weight_grad C1
TEST(ShapeRules, ConvTakesFloatsOfOneDtype) {
  EXPECT_THAT(inferred(kConv, {{DType::i32, {1, 1, 5, 5}}, {DType::i32, {1, 1, 3, 3}}}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(kConv, {{f32, {1, 1, 5, 5}}, {DType::f64, {1, 1, 3, 3}}}), HasSubstr("of one dtype"));
  const std::vector<TensorType> mixed{{f32, {1, 1, 3}}, {DType::f64, {1, 1, 3}}};
  EXPECT_THAT(inferred(ConvInputGrad{{1}, {0}, {0}, {1}, {5}}, mixed), HasSubstr("takes floats of one dtype"));
  EXPECT_THAT(inferred(ConvWeightGrad{{1}, {0}, {0}, {1}, {1}}, mixed), HasSubstr("takes floats of one dtype"));
}

// conv C4, C5; conv_input_grad C4; conv_weight_grad C4
TEST(ShapeRules, ConvTakesNoHostileNumbers) {
  const std::vector<TensorType> operands{{f32, {1, 1, 5, 5}}, {f32, {1, 1, 3, 3}}};
  for (const auto bad : {kHuge, kLeast, std::int64_t{-1}, std::int64_t{1} << 31}) {
    for (Dims Conv::*list : {&Conv::stride, &Conv::pad_begin, &Conv::pad_end, &Conv::dilation}) {
      Conv op = kConv;
      (op.*list)[1] = bad;
      EXPECT_THAT(inferred(op, operands), HasSubstr("conv: input size 5, kernel 3"));
    }
    ConvInputGrad grad{{1, 1}, {0, 0}, {0, 0}, {1, 1}, {5, bad}, 1};
    EXPECT_FALSE(infer_types(grad, std::vector<TensorType>{{f32, {1, 1, 3, 3}}, operands[1]}).ok());
    grad.input_size[1] = 5;
    grad.groups = bad;
    EXPECT_FALSE(infer_types(grad, std::vector<TensorType>{{f32, {1, 1, 3, 3}}, operands[1]}).ok());
    const ConvWeightGrad weight{{1, 1}, {0, 0}, {0, 0}, {1, 1}, {3, bad}, 1};
    EXPECT_FALSE(infer_types(weight, std::vector<TensorType>{operands[0], {f32, {1, 1, 3, 3}}}).ok());
  }
  Conv op = kConv;
  op.stride[0] = 0;
  EXPECT_THAT(inferred(op, operands), HasSubstr("stride 0"));
  EXPECT_THAT(inferred(kConv, {operands[0], {f32, {1, 1, 6, 3}}}), HasSubstr("does not fit input size 5"));
  EXPECT_THAT(inferred(kConv, {operands[0], {f32, {1, 1, 0, 3}}}), HasSubstr("kernel 0"));
}

// conv_input_grad C5; conv_weight_grad C5
TEST(ShapeRules, ConvAdjointsCheckTheForwardSizes) {
  const ConvInputGrad input{{2, 2}, {1, 1}, {1, 1}, {1, 1}, {5, 5}, 1};
  const TensorType weight{f32, {6, 4, 3, 3}};
  EXPECT_EQ(inferred(input, {{f32, {2, 6, 3, 3}}, weight}), "f32[2, 4, 5, 5]");
  EXPECT_THAT(inferred(input, {{f32, {2, 6, 3, 4}}, weight}), HasSubstr("give size 3 in spatial dim 1, not 4"));
  EXPECT_THAT(inferred(input, {{f32, {2, 5, 3, 3}}, weight}), HasSubstr("do not belong together"));
  const ConvWeightGrad grad{{2, 2}, {1, 1}, {1, 1}, {1, 1}, {3, 3}, 1};
  EXPECT_THAT(inferred(grad, {{f32, {2, 4, 5, 5}}, {f32, {3, 6, 3, 3}}}), HasSubstr("do not belong together"));
  EXPECT_THAT(inferred(grad, {{f32, {2, 4, 5, 5}}, {f32, {2, 6, 2, 3}}}), HasSubstr("give size 3 in spatial dim 0"));
}

// Whatever passes: windows start inside the input or the padding before it, and cover an element of the input.
// max_pool C5, C6
TEST(ShapeRules, EveryPoolingWindowCoversAnElement) {
  int accepted = 0;
  for (int code = 0; code < 6 * 4 * 4 * 3 * 4 * 2; ++code) {
    const std::int64_t in = code % 6 + 1, kernel = code / 6 % 4 + 1, stride = code / 24 % 4 + 1, pad = code / 96 % 3,
                       dilation = code / 288 % 4 + 1;
    const bool ceil_mode = code / 1152 == 1;
    const MaxPool op{{kernel}, {stride}, {pad}, {dilation}, ceil_mode};
    const auto type = infer_types(op, std::vector<TensorType>{{f32, {1, 1, in}}});
    if (!type.ok()) continue;
    ++accepted;
    const auto out = (*type)[0].shape[2];
    for (std::int64_t i = 0; i < out; ++i) {
      int covered = 0;
      for (std::int64_t k = 0; k < kernel; ++k) {
        const auto at = i * stride - pad + k * dilation;
        covered += at >= 0 && at < in;
      }
      EXPECT_GT(covered, 0) << "window " << i << " of " << to_string(Op{op}) << " on " << in;
    }
    // Without ceil_mode windows end inside the padding, and no further one would.
    const auto extent = (kernel - 1) * dilation + 1, last = (out - 1) * stride - pad;
    if (!ceil_mode) {
      EXPECT_LE(last + extent, in + pad);
    }
    EXPECT_GT(last + stride + extent, in + pad) << to_string(Op{op}) << " on " << in;
  }
  EXPECT_GT(accepted, 500);
}

// avg_pool C4
TEST(ShapeRules, PoolsAgreeWithPyTorchOnCeilMode) {
  const auto size = [](std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool ceil_mode) {
    return inferred(AvgPool{{kernel}, {stride}, {pad}, true, ceil_mode}, {{f32, {1, 1, in}}});
  };
  EXPECT_EQ(size(5, 2, 2, 0, false), "f32[1, 1, 2]");
  EXPECT_EQ(size(5, 2, 2, 0, true), "f32[1, 1, 3]");
  EXPECT_EQ(size(6, 2, 2, 1, true), "f32[1, 1, 4]");
  EXPECT_EQ(size(5, 1, 3, 0, true), "f32[1, 1, 2]") << "a third window would start behind the input";
  EXPECT_EQ(size(2, 3, 2, 0, true), "f32[1, 1, 1]") << "one partial window";
  EXPECT_THAT(size(2, 3, 2, 0, false), HasSubstr("does not fit"));
}

// avg_pool C2, C3, C5; avg_pool_grad C2, C3; max_pool C2, C3, C4, C5
// adaptive_avg_pool C3; adaptive_avg_pool_grad C3
TEST(ShapeRules, PoolsTakeNoHostileNumbers) {
  const TensorType x{f32, {1, 1, 8, 8}};
  for (const auto bad : {kHuge, kLeast, std::int64_t{-1}, std::int64_t{1} << 31}) {
    for (Dims MaxPool::*list : {&MaxPool::kernel, &MaxPool::stride, &MaxPool::padding, &MaxPool::dilation}) {
      MaxPool op = kPool;
      (op.*list)[0] = bad;
      EXPECT_THAT(inferred(op, {x}), HasSubstr("out of range"));
    }
    for (Dims AvgPool::*list : {&AvgPool::kernel, &AvgPool::stride, &AvgPool::padding}) {
      AvgPool mean{{2, 2}, {2, 2}, {0, 0}};
      (mean.*list)[0] = bad;
      EXPECT_THAT(inferred(mean, {x}), HasSubstr("out of range"));
    }
    EXPECT_FALSE(infer_types(AdaptiveAvgPool{{2, bad}}, std::vector{x}).ok());
    EXPECT_FALSE(infer_types(AdaptiveAvgPoolGrad{{2, bad}}, std::vector{x}).ok());
    EXPECT_FALSE(infer_types(AvgPoolGrad{{2, 2}, {2, 2}, {0, 0}, {16, bad}, true, false}, std::vector{x}).ok());
  }
  MaxPool op = kPool;
  op.padding = {2, 0};
  EXPECT_THAT(inferred(op, {x}), HasSubstr("padding 2 is more than half the window of 2"));
  op = kPool;
  op.stride = {2};
  EXPECT_THAT(inferred(op, {x}), HasSubstr("one entry per entry of kernel [2, 2]"));
  op = kPool;
  op.kernel = {9, 2};
  EXPECT_THAT(inferred(op, {x}), HasSubstr("kernel 9 with dilation 1 does not fit input size 8"));
  EXPECT_THAT(inferred(AvgPool{{2, 2}, {2, 2}, {2, 0}}, {x}), HasSubstr("more than half the window of 2"));
  EXPECT_THAT(inferred(AvgPool{{2, 2}, {2}, {0, 0}}, {x}), HasSubstr("one entry per entry of kernel"));
  EXPECT_THAT(inferred(AvgPoolGrad{{2, 2}, {2, 2}, {0, 0}, {16}}, {x}), HasSubstr("one entry per entry of kernel"));
}

// avg_pool C1; avg_pool_grad C1, C4; max_pool C1, C2
// adaptive_avg_pool C1, C2, C3; adaptive_avg_pool_grad C1, C2
TEST(ShapeRules, PoolsTakeImages) {
  EXPECT_THAT(inferred(kPool, {{f32, {8, 8}}}), HasSubstr("is not [batch, channel, ...]"));
  EXPECT_THAT(inferred(kPool, {{DType::bool_, {1, 1, 8, 8}}}), HasSubstr("takes numbers"));
  EXPECT_EQ(inferred(kPool, {{DType::u8, {1, 1, 8, 8}}}), "u8[1, 1, 4, 4], i64[1, 1, 4, 4]");
  EXPECT_THAT(inferred(AvgPool{{2}, {2}, {0}}, {{DType::i32, {1, 1, 8}}}), HasSubstr("takes floats"));
  const TensorType whole{DType::i32, {1, 1, 8}}, line{f32, {1, 1, 8}};
  EXPECT_THAT(inferred(AvgPoolGrad{{2}, {2}, {0}, {16}}, {whole}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(AdaptiveAvgPool{{2}}, {whole}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(AdaptiveAvgPoolGrad{{2}}, {whole}), HasSubstr("takes floats"));
  EXPECT_THAT(inferred(AdaptiveAvgPool{{2, 2}}, {line}), HasSubstr("with 2 spatial dims"));
  EXPECT_THAT(inferred(AdaptiveAvgPoolGrad{{2, 2}}, {line}), HasSubstr("with 2 spatial dims"));
  EXPECT_THAT(inferred(AdaptiveAvgPool{{2}}, {{f32, {1, 1, 0}}}), HasSubstr("cannot pool"));
  EXPECT_THAT(inferred(AdaptiveAvgPool{{0}}, {{f32, {1, 1, 5}}}), HasSubstr("cannot pool"));
  EXPECT_THAT(inferred(AvgPoolGrad{{2}, {2}, {0}, {9}, true, false}, {{f32, {1, 1, 5}}}),
              HasSubstr("pooling [1, 1, 9] gives [1, 1, 4], not f32[1, 1, 5]"));
}

}  // namespace
}  // namespace burn::ir
