// Training in mixed precision: losses as in f32, loss scaling, steps that are skipped, and clipping by the norm of all
// gradients.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/autocast.h"
#include "client/capture/capture.h"
#include "nn/nn.h"
#include "train/train.h"

namespace burn {
namespace {

using ::testing::Each;
using ::testing::FloatNear;

struct Mlp {
  nn::Linear hidden, output;
  nn::LayerNorm norm;
  BURN_MODULE(Mlp, hidden, output, norm)

  static Mlp init(const Device& device) {
    return {.hidden = nn::LinearConfig{.d_input = 8, .d_output = 64}.init(device),
            .output = nn::LinearConfig{.d_input = 64, .d_output = 4}.init(device),
            .norm = nn::LayerNormConfig{.d_model = 64}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return output(norm(hidden(x)).relu()); }
};

const Device& ad() {
  static const Device device = Device{"cpu"}.autodiff();
  return device;
}

struct Problem {
  Tensor<2> x;
  Tensor<1, Int> targets;
};

// A classification problem: the class is the quadrant of a point's first two numbers.
Problem problem() {
  std::vector<float> x(std::size_t{256} * 8);
  std::vector<std::int64_t> targets(256);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i * i % 997)));
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = (x[8 * i] > 0 ? 1 : 0) + (x[8 * i + 1] > 0 ? 2 : 0);
  return {Tensor<2>::from_data(TensorData(x, {256, 8}), ad()),
          Tensor<1, Int>::from_data(TensorData(targets, {256}), ad())};
}

struct Outcome {
  std::vector<float> losses;
  std::vector<float> factors;
  Mlp net;
};

Outcome train(DType dtype, std::optional<optim::GradScalerConfig> scaling, bool is_captured = false, int steps = 60) {
  ad().seed(7);
  Outcome outcome{.net = Mlp::init(ad())};
  auto optim = optim::AdamConfig{}.init<Mlp>();
  auto scaler = scaling.value_or(optim::GradScalerConfig{.initial = 1}).init(ad());
  const auto body = [&](Mlp& net, optim::Optimizer<Mlp>& optim, GradScaler& scaler, const Tensor<2>& x,
                        const Tensor<1, Int>& targets) {
    const Autocast scope{dtype};
    const auto loss = nn::CrossEntropyLoss{}(net.forward(x), targets);
    auto gradients = GradientsParams::from_grads((scaling ? scaler.scale(loss) : loss).backward(), net);
    if (scaling) gradients = scaler.unscale(std::move(gradients));
    net = optim.step(1e-2, std::move(net), std::move(gradients));
    return loss;
  };
  auto captured = capture(ad(), body);
  const auto [x, targets] = problem();
  for (int i = 0; i < steps; ++i) {
    const auto loss =
        is_captured ? captured(outcome.net, optim, scaler, x, targets) : body(outcome.net, optim, scaler, x, targets);
    outcome.losses.push_back(loss.into_scalar<float>());
    outcome.factors.push_back(scaler.factor().into_scalar<float>());
  }
  EXPECT_EQ(outcome.net.hidden.weight.val().dtype(), DType::f32);
  if (is_captured) {
    EXPECT_GT(captured.replayed(), 0U);
  }
  return outcome;
}

TEST(MixedPrecision, ReachesTheLossOfF32) {
  const float exact = train(DType::f32, std::nullopt).losses.back();
  EXPECT_LT(exact, 0.1);
  EXPECT_NEAR(train(DType::bf16, std::nullopt).losses.back(), exact, 0.02);
  EXPECT_NEAR(train(DType::f16, optim::GradScalerConfig{}).losses.back(), exact, 0.02);
}

TEST(MixedPrecision, IsTheSameWhenCaptured) {
  for (const auto dtype : {DType::bf16, DType::f16}) {
    const optim::GradScalerConfig scaling{.growth_interval = 5};
    EXPECT_EQ(train(dtype, scaling, true, 20).losses, train(dtype, scaling, false, 20).losses);
  }
}

TEST(GradScaler, FactorsOfTwoChangeNothing) {
  EXPECT_EQ(train(DType::f32, optim::GradScalerConfig{.initial = 1024}, false, 10).losses,
            train(DType::f32, std::nullopt, false, 10).losses);
}

TEST(GradScaler, GrowsAfterStepsThatWereTaken) {
  const auto outcome = train(DType::f32, optim::GradScalerConfig{.initial = 4, .growth_interval = 3}, false, 7);
  EXPECT_EQ(outcome.factors, (std::vector<float>{4, 4, 8, 8, 8, 16, 16}));
}

TEST(GradScaler, BacksOffFromInfinitiesWithoutAStep) {
  // In f16 the gradient with respect to the logits is infinite until the factor has been reduced.
  const auto outcome = train(DType::f16, optim::GradScalerConfig{.initial = 0x1p28}, false, 40);
  EXPECT_EQ(outcome.factors[0], 0x1p27F);
  std::size_t skipped = 0;
  while (outcome.losses[skipped + 1] == outcome.losses[0]) ++skipped;  // the step was skipped
  EXPECT_GE(skipped, 4U);
  EXPECT_LE(skipped, 20U);
  EXPECT_LT(outcome.losses.back(), outcome.losses[0] * 0.5F);
  for (const float loss : outcome.losses) EXPECT_TRUE(std::isfinite(loss));
  EXPECT_EQ(outcome.factors.back(), std::ldexp(0x1p28F, -static_cast<int>(skipped)));
}

struct Single {
  Param<1> weight;
  BURN_MODULE(Single, weight)
};

std::vector<float> numbers(const Tensor<1>& x) { return x.to_data().to_vec<float>(); }

// Takes a step with `gradient`, which is scaled by the scaler's factor and unscaled again.
Single step(const GradScaler& like, optim::Optimizer<Single>& optim, const Single& module,
            std::vector<float> gradient) {
  GradScaler scaler = like;
  const auto size = static_cast<std::int64_t>(gradient.size());
  const auto g = Tensor<1>::from_data(TensorData(std::move(gradient), {size}), ad());
  const auto loss = scaler.scale((module.weight.val() * g).sum());
  return optim.step(0.5, module, scaler.unscale(GradientsParams::from_grads(loss.backward(), module)));
}

TEST(GradScaler, AStepThatIsNotTakenLeavesParametersAndStatesAlone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const auto scaler = optim::GradScalerConfig{.initial = 2}.init(ad());
  auto optim = optim::AdamWConfig{.weight_decay = 0.1}.init<Single>();
  Single module{.weight = Tensor<1>::from_data({1, 2, 3}, ad())};
  const auto state = [&](const char* name) {
    return optim.to_record(module).get(std::string{"weight/"} + name).to_vec<float>();
  };

  for (const float bad : {kInfinity, -kInfinity, kNan}) module = step(scaler, optim, module, {1, bad, 1});
  EXPECT_EQ(numbers(module.weight.val()), (std::vector<float>{1, 2, 3}));
  EXPECT_THAT(state("moment_1"), Each(0));
  EXPECT_THAT(state("moment_2"), Each(0));

  module = step(scaler, optim, module, {1, -1, 2});
  EXPECT_THAT(state("moment_1"), ::testing::Pointwise(FloatNear(1e-6F), {0.1F, -0.1F, 0.2F}));
  const auto moved = numbers(module.weight.val());
  EXPECT_NE(moved, (std::vector<float>{1, 2, 3}));
  const auto moment = state("moment_2");
  module = step(scaler, optim, module, {kNan, 0, 0});
  EXPECT_EQ(numbers(module.weight.val()), moved);
  EXPECT_EQ(state("moment_2"), moment);
}

TEST(GradScaler, RefusesFactorsThatMakeNoSense) {
  EXPECT_THROW(optim::GradScalerConfig{.initial = 0}.init(ad()), Error);
  EXPECT_THROW(optim::GradScalerConfig{.growth = 0.5}.init(ad()), Error);
  EXPECT_THROW(optim::GradScalerConfig{.backoff = 2}.init(ad()), Error);
  EXPECT_THROW(optim::GradScalerConfig{.growth_interval = 0}.init(ad()), Error);
}

// --- clip_norm -------------------------------------------------------------------------------------------------------

struct Pair {
  Param<1> a, b;
  BURN_MODULE(Pair, a, b)
};

GradientsParams gradients_of(const Pair& pair) {  // equal to the parameters
  return GradientsParams::from_grads(
      ((pair.a.val() * pair.a.val()).sum() * 0.5 + (pair.b.val() * pair.b.val()).sum() * 0.5).backward(), pair);
}

TEST(ClipNorm, ScalesAllGradientsByOneFactor) {
  const Pair pair{.a = Tensor<1>::from_data({3, 0}, ad()), .b = Tensor<1>::from_data({4}, ad())};
  auto gradients = gradients_of(pair);
  EXPECT_EQ(numbers(gradients.clip_norm(1)), std::vector<float>{5});
  EXPECT_THAT(numbers(*gradients.get(pair.a)), ::testing::Pointwise(FloatNear(1e-6F), {0.6F, 0.0F}));
  EXPECT_THAT(numbers(*gradients.get(pair.b)), ::testing::Pointwise(FloatNear(1e-6F), {0.8F}));
}

TEST(ClipNorm, LeavesSmallGradientsAlone) {
  const Pair pair{.a = Tensor<1>::from_data({3, 0}, ad()), .b = Tensor<1>::from_data({4}, ad())};
  auto gradients = gradients_of(pair);
  (void)gradients.clip_norm(5.5);
  EXPECT_EQ(numbers(*gradients.get(pair.b)), std::vector<float>{4});
  const Pair zero{.a = Tensor<1>::zeros({2}, ad()), .b = Tensor<1>::zeros({1}, ad())};
  auto none = gradients_of(zero);
  EXPECT_EQ(numbers(none.clip_norm(1)), std::vector<float>{0});
  EXPECT_THAT(numbers(*none.get(zero.a)), Each(0));
}

TEST(ClipNorm, HoldsTheNormOfHalvesInF32) {
  const Pair pair{.a = Tensor<1>::full({1000}, 100, {ad(), DType::f16}), .b = Tensor<1>::ones({1}, {ad(), DType::f16})};
  auto gradients = gradients_of(pair);
  EXPECT_NEAR(gradients.clip_norm(1).into_scalar<float>(), std::sqrt(1e7 + 1), 0.01);
  EXPECT_EQ(gradients.get(pair.a)->dtype(), DType::f16);
}

// torch.nn.utils.clip_grad_norm_: the factor is limit / (norm + 1e-6), which matters for small norms.
TEST(ClipNorm, OfF64IsPyTorchsToTheLastBits) {
  const TensorOptions f64{ad(), DType::f64};
  const std::vector<double> a{0.0123456789012345, -0.006}, b{0.0098765432109876};
  const Pair pair{.a = Tensor<1>::from_data(TensorData(a, {2}), f64),
                  .b = Tensor<1>::from_data(TensorData(b, {1}), f64)};
  auto gradients = gradients_of(pair);
  const double norm = std::sqrt(a[0] * a[0] + a[1] * a[1] + b[0] * b[0]), factor = 0.01 / (norm + 1e-6);
  const auto returned = gradients.clip_norm(0.01);
  EXPECT_EQ(returned.dtype(), DType::f64);
  EXPECT_NEAR(returned.to_data().to_vec<double>()[0], norm, 4e-18);
  const auto of_a = gradients.get(pair.a)->to_data().to_vec<double>();
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(of_a[i], a[i] * factor, 4e-18);
  EXPECT_NEAR(gradients.get(pair.b)->to_data().to_vec<double>()[0], b[0] * factor, 4e-18);
}

TEST(ClipNorm, RefusesALimitThatIsNotPositive) {
  GradientsParams none;
  EXPECT_THROW((void)none.clip_norm(0), Error);
  EXPECT_THROW((void)none.clip_norm(-1), Error);
}

}  // namespace
}  // namespace burn
