// Mixed precision: the effect of an autocast scope on each kind of op and on gradients, and that it does not reach
// other threads.
#include "client/autocast.h"

#include <algorithm>
#include <memory>
#include <thread>

#include "client/capture/capture.h"
#include "compile/rewrite/simplify.h"
#include "tests/client/recording_session.h"
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::spread_tensor;
using test::values;
using ::testing::HasSubstr;

Tensor<2> square(DType dtype = DType::f32, const Device& device = cpu()) {
  return spread_tensor<2>({4, 4}, device).cast(dtype);
}

class AutocastTo : public ::testing::TestWithParam<DType> {
 protected:
  DType low() const { return GetParam(); }
  double step() const { return low() == DType::f16 ? 0x1p-10 : 0x1p-7; }
};

TEST_P(AutocastTo, ProductsComputeInTheLowDtype) {
  // Checks that results have the low dtype and are close to those in f32.
  const auto expect_low = [&](const char* what, const auto& product) {
    const auto exact = product();
    const Autocast scope{low()};
    const auto rounded = product();
    EXPECT_EQ(rounded.dtype(), low()) << what;
    EXPECT_THAT(values(rounded), ::testing::Pointwise(::testing::DoubleNear(16 * step()), values(exact))) << what;
  };
  const auto x = square();
  expect_low("matmul", [&] { return x.matmul(x); });
  const auto linear = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(cpu());
  expect_low("linear", [&] { return linear(x); });
  const auto bias = std::optional{Tensor<1>::ones({4}, cpu())};
  expect_low("linear, col", [&] { return module::linear(x, x, bias, LinearLayout::col); });
  const auto image = spread_tensor<4>({1, 2, 5, 5}, cpu());
  const auto conv = nn::Conv2dConfig{.channels = {2, 3}, .kernel_size = {3, 3}}.init(cpu());
  expect_low("conv2d", [&] { return conv(image); });
  const auto transposed = nn::ConvTranspose2dConfig{.channels = {2, 3}, .kernel_size = {3, 3}}.init(cpu());
  expect_low("conv_transpose2d", [&] { return transposed(image); });
  const auto q = spread_tensor<4>({1, 2, 3, 4}, cpu());
  const auto attention_bias = std::optional{spread_tensor<4>({1, 1, 3, 3}, cpu())};
  expect_low("attention", [&] { return module::attention<4>(q, q, q, std::nullopt, attention_bias); });
  expect_low("attention with a softcap",
             [&] { return module::attention<4>(q, q, q, std::nullopt, std::nullopt, {.softcap = 5.0}); });
  const auto mha = nn::MultiHeadAttentionConfig{.d_model = 4, .n_heads = 2}.init(cpu());
  const auto input = nn::MhaInput::self_attn(spread_tensor<3>({1, 3, 4}, cpu()));
  expect_low("multi-head attention", [&] { return mha(input).context; });
  const Autocast scope{low()};
  EXPECT_EQ(mha(input).weights.dtype(), DType::f32);  // the result of a softmax
}

TEST_P(AutocastTo, GradientsOfConvolutionsAndAttentionAreF32) {
  const auto conv = nn::Conv2dConfig{.channels = {2, 3}, .kernel_size = {3, 3}}.init(ad());
  const auto image = spread_tensor<4>({1, 2, 5, 5}, ad());
  const auto mha = nn::MultiHeadAttentionConfig{.d_model = 4, .n_heads = 2, .dropout = 0}.init(ad());
  const auto input = nn::MhaInput::self_attn(spread_tensor<3>({1, 3, 4}, ad()));
  const auto loss = [&] { return conv(image).powi(2).sum() + mha(input).context.powi(2).sum(); };
  const auto exact = loss().backward();
  const Autocast scope{low()};
  const auto rounded = loss().backward();
  const auto expect_near = [&](const auto& leaf) {
    const auto gradient = *leaf.grad(rounded);
    EXPECT_EQ(gradient.dtype(), DType::f32);
    test::expect_near(gradient, values(*leaf.grad(exact)), 64 * step());
  };
  expect_near(conv.weight.val());
  expect_near(conv.bias->val());
  expect_near(mha.query.weight.val());
  expect_near(mha.value.weight.val());
}

TEST_P(AutocastTo, ProductsAreThoseOfRoundedOperands) {
  const auto a = square(), b = square().transpose();
  const auto expected = values(a.cast(low()).matmul(b.cast(low())));
  const Autocast scope{low()};
  EXPECT_EQ(values(a.matmul(b)), expected);
  EXPECT_EQ(values(module::linear(a, a, std::nullopt, LinearLayout::col)), expected);
}

TEST_P(AutocastTo, NormsSoftmaxLossesAndSumsGiveF32) {
  const auto x = square(low());
  const auto targets = Tensor<1, Int>::zeros({4}, cpu());
  const Autocast scope{low()};
  EXPECT_EQ(nn::LayerNormConfig{.d_model = 4}.init(cpu())(x).dtype(), DType::f32);
  EXPECT_EQ(nn::RmsNormConfig{.d_model = 4}.init(cpu())(x).dtype(), DType::f32);
  EXPECT_EQ((nn::GroupNormConfig{.num_groups = 2, .num_channels = 4}.init(cpu())(x.reshape<3>({1, 4, 4})).dtype()),
            DType::f32);
  EXPECT_EQ(nn::BatchNormConfig{.num_features = 4}.init(ad())(x.reshape<3>({1, 4, 4})).dtype(), DType::f32);
  EXPECT_EQ(activation::softmax(x, 1).dtype(), DType::f32);
  EXPECT_EQ(activation::log_softmax(x, 1).dtype(), DType::f32);
  EXPECT_EQ(nn::CrossEntropyLoss{}(x, targets).dtype(), DType::f32);
  EXPECT_EQ(nn::MseLoss{}(x, x * 0).dtype(), DType::f32);
  EXPECT_EQ(x.sum().dtype(), DType::f32);
  EXPECT_EQ(x.sum_dim(1).dtype(), DType::f32);
  EXPECT_EQ(x.mean().dtype(), DType::f32);
  EXPECT_EQ(x.var(1).dtype(), DType::f32);
  EXPECT_EQ(x.cumsum(1).dtype(), DType::f32);
  EXPECT_EQ(x.max().dtype(), low());  // max is no sum
}

TEST_P(AutocastTo, PointwiseFollowsItsOperands) {
  const auto narrow = square(low()), wide = square();
  const Autocast scope{low()};
  EXPECT_EQ(narrow.exp().dtype(), low());
  EXPECT_EQ(activation::gelu(narrow).dtype(), low());
  EXPECT_EQ((narrow * 2 + narrow).dtype(), low());
  EXPECT_EQ(wide.exp().dtype(), DType::f32);
  EXPECT_EQ((narrow + wide).dtype(), DType::f32);
  EXPECT_EQ(values(narrow + wide), values(narrow.cast(DType::f32) + wide));
  EXPECT_EQ((square(DType::f16) + square(DType::bf16)).dtype(), DType::f32);
  EXPECT_EQ((narrow + square(DType::f64)).dtype(), DType::f64);
  EXPECT_EQ(narrow.mask_where(wide.greater(0), wide).dtype(), DType::f32);
  EXPECT_EQ(Tensor<2>::cat({narrow, wide, narrow}, 0).dtype(), DType::f32);
}

TEST_P(AutocastTo, LeavesF64AndWholeNumbersAlone) {
  const auto doubles = square(DType::f64);
  const Autocast scope{low()};
  EXPECT_EQ(doubles.matmul(doubles).dtype(), DType::f64);
  EXPECT_EQ(doubles.sum().dtype(), DType::f64);
  const auto whole = Tensor<2, Int>::ones({2, 2}, cpu());
  EXPECT_EQ(whole.matmul(whole).dtype(), DType::i64);
  EXPECT_THAT(error_of([&] { (void)doubles.matmul(square()); }), HasSubstr("one dtype"));
}

TEST_P(AutocastTo, GradientsOfWeightsAreF32) {
  auto layer = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(ad());
  const auto x = spread_tensor<2>({5, 4}, ad()).require_grad();
  const auto gradients_of = [&](const Tensor<2>& y) { return (y * y).sum().backward(); };
  const auto exact = gradients_of(layer(x));
  const Autocast scope{low()};
  const auto rounded = gradients_of(layer(x));  // also runs backward() in the scope, which does not affect gradients
  for (const Tensor<2>& leaf : {layer.weight.val(), x}) {
    const auto gradient = *leaf.grad(rounded);
    EXPECT_EQ(gradient.dtype(), DType::f32);
    test::expect_near(gradient, values(*leaf.grad(exact)), 16 * step());
  }
  EXPECT_EQ(layer.bias->val().grad(rounded)->dtype(), DType::f32);
}

TEST_P(AutocastTo, BackwardInsideAScopeIsThatOfTheForwardPass) {
  const auto x = spread_tensor<2>({4, 4}, ad()).require_grad();
  const auto w = spread_tensor<2>({4, 4}, ad(), 1);
  const auto expected = values(*x.grad(x.matmul(w).sum().backward()));
  const auto y = x.matmul(w).sum();
  const Autocast scope{low()};
  EXPECT_EQ(values(*x.grad(y.backward())), expected);
}

TEST_P(AutocastTo, ScopesNestAndEnd) {
  const auto dtype = [] { return square().matmul(square()).dtype(); };
  EXPECT_EQ(Autocast::dtype(), std::nullopt);
  {
    const Autocast scope{low()};
    {
      const Autocast off{DType::f32};
      EXPECT_EQ(dtype(), DType::f32);
      EXPECT_EQ(Autocast::dtype(), std::nullopt);
      {
        const Autocast other{DType::bf16};
        EXPECT_EQ(dtype(), DType::bf16);
      }
      EXPECT_EQ(dtype(), DType::f32);
    }
    EXPECT_EQ(dtype(), low());
    try {
      const Autocast other{DType::f16};
      throw 1;
    } catch (int) {
      EXPECT_EQ(dtype(), low());
    }
  }
  EXPECT_EQ(dtype(), DType::f32);
}

TEST_P(AutocastTo, IsOfOneThread) {
  const auto dtype = [] { return square().matmul(square()).dtype(); };
  const Autocast scope{low()};
  DType before{}, inside{}, after{};
  std::thread{[&] {
    before = dtype();
    {
      const Autocast other{DType::bf16};
      inside = dtype();
    }
    after = dtype();
  }}.join();
  EXPECT_EQ(before, DType::f32);
  EXPECT_EQ(inside, DType::bf16);
  EXPECT_EQ(after, DType::f32);
  EXPECT_EQ(dtype(), low());
}

TEST_P(AutocastTo, IsPartOfACapturedStep) {
  const Device device{"cpu"};
  auto step = capture(device, [&](const Tensor<2>& a) {
    const Autocast scope{low()};
    return a.matmul(a);
  });
  auto bare = capture(device, [](const Tensor<2>& a) { return a.matmul(a); });
  const auto a = square();
  const auto narrow = values(a.cast(low()).matmul(a.cast(low()))), wide = values(a.matmul(a));
  ASSERT_NE(narrow, wide);
  for (int i = 0; i < 4; ++i) {
    const auto y = step(a);
    EXPECT_EQ(y.dtype(), low());
    EXPECT_EQ(values(y), narrow);
    EXPECT_EQ(values(bare(a)), wide);
    const Autocast scope{low()};  // a scope around the call: a separate recording
    EXPECT_EQ(values(bare(a)), narrow);
  }
  EXPECT_EQ(step.recorded(), 2U);
  EXPECT_EQ(step.replayed(), 2U);
  EXPECT_EQ(bare.recorded(), 4U);
  EXPECT_EQ(bare.replayed(), 4U);
}

INSTANTIATE_TEST_SUITE_P(Types, AutocastTo, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(ir::name(info.param)); });

TEST(Autocast, TakesNothingButFloatsOf16And32Bits) {
  for (const auto dtype : {DType::i32, DType::i64, DType::u8, DType::bool_, DType::f64}) {
    EXPECT_THAT(error_of([&] { const Autocast scope{dtype}; }), HasSubstr("bf16 or f16")) << ir::name(dtype);
    EXPECT_EQ(Autocast::dtype(), std::nullopt);
  }
}

TEST(Autocast, AWeightIsCastOnceAStep) {
  const auto calls = std::make_shared<test::RecordedCalls>();
  const Device device = Device::from_session("told:", std::make_unique<test::RecordingSession>(calls)).autodiff();
  const auto layer = nn::LinearConfig{.d_input = 4, .d_output = 4, .bias = false}.init(device);
  const auto x = Tensor<2>::ones({2, 4}, device);
  device.flush();
  Gradients gradients;
  {
    const Autocast scope{DType::bf16};
    gradients = layer(layer(x)).sum().backward();  // the weight is used twice, and again for both gradients
  }
  device.flush();
  const auto& recorded = calls->program_of(calls->runs.size() - 1);
  const auto casts = [](const ir::Program& program) {
    return std::ranges::count_if(program.nodes, [&](const ir::Node& node) {
      return std::holds_alternative<ir::Cast>(node.op) && program.type_of(node).dtype == DType::bf16 &&
             program.type_of(node).shape == ir::Shape{4, 4};
    });
  };
  EXPECT_EQ(casts(recorded), 2);  // one for each use
  EXPECT_EQ(casts(compile::simplify(recorded, true)), 1);
}

TEST(Autocast, OutsideDtypesMustAgreeAsEver) {
  EXPECT_NE(error_of([] { (void)(square() + square(DType::bf16)); }), "");
  EXPECT_NE(error_of([] { (void)square().matmul(square(DType::bf16)); }), "");
}

// --- modules of another dtype ----------------------------------------------------------------------------------------

struct Mixed {
  nn::Linear linear;
  nn::BatchNorm norm;
  Param<1, Int> table;
  Tensor<1> plain, none;
  BURN_MODULE(Mixed, linear, norm, table, plain, none)

  static Mixed init(const Device& device) {
    return {.linear = nn::LinearConfig{.d_input = 2, .d_output = 2}.init(device),
            .norm = nn::BatchNormConfig{.num_features = 2}.init(device),
            .table = Tensor<1, Int>::arange(0, 3, device),
            .plain = Tensor<1>::ones({2}, device)};
  }
};

TEST(ModuleDtype, CastsFloatsAndKeepsIdsAndStates) {
  Mixed module = Mixed::init(ad());
  module.linear.bias = module.linear.bias->set_require_grad(false);
  Mixed narrow = module.to_dtype(DType::bf16);
  EXPECT_EQ(narrow.linear.weight.val().dtype(), DType::bf16);
  EXPECT_EQ(narrow.norm.running_mean.val().dtype(), DType::bf16);
  EXPECT_EQ(narrow.plain.dtype(), DType::bf16);
  EXPECT_EQ(narrow.table.val().dtype(), DType::i64);
  EXPECT_EQ(narrow.linear.weight.id(), module.linear.weight.id());
  EXPECT_TRUE(narrow.linear.weight.val().is_require_grad());
  EXPECT_FALSE(narrow.linear.bias->val().is_require_grad());
  EXPECT_EQ(module.linear.weight.val().dtype(), DType::f32);  // the original is unchanged
  const auto exact = values(module.linear.weight.val());
  test::expect_near(narrow.to_dtype(DType::f32).linear.weight.val(), exact, 0x1p-8);

  const Mixed back = module.valid().to_dtype(DType::f16).train();
  EXPECT_EQ(back.linear.weight.val().dtype(), DType::f16);
  EXPECT_TRUE(back.linear.weight.val().is_require_grad());
  EXPECT_FALSE(back.linear.bias->val().is_require_grad());
}

TEST(ModuleDtype, IsAFloat) {
  EXPECT_THAT(error_of([] { (void)Mixed::init(cpu()).to_dtype(DType::i32); }), HasSubstr("floats, not i32"));
}

TEST(ModuleDtype, GradientsHaveTheDtypeOfTheirParameters) {
  const auto layer = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(ad()).to_dtype(DType::bf16);
  const auto gradients = layer(spread_tensor<2>({5, 4}, ad()).cast(DType::bf16)).sum().backward();
  EXPECT_EQ(layer.weight.val().grad(gradients)->dtype(), DType::bf16);
}

}  // namespace
}  // namespace burn
