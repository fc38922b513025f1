// Losses between predictions and targets: values by hand, gradients by differences, edge cases, refused arguments.
#include <cmath>
#include <limits>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using nn::Reduction;
using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;

Tensor<1> vec(const std::vector<double>& x, const Device& device = cpu()) {
  return Tensor<1>::from_data(TensorData(x, {static_cast<std::int64_t>(x.size())}).convert<float>(), device);
}
Tensor<1, Int> ints(const std::vector<std::int64_t>& x, const Device& device = cpu()) {
  return Tensor<1, Int>::from_data(TensorData(x, {static_cast<std::int64_t>(x.size())}), device);
}
constexpr double kInf = std::numeric_limits<double>::infinity();

// Calls body(loss, name) for each loss that must pass the common tests.
template <typename Body>
void for_each_pair_loss(Body&& body) {
  body(nn::MseLoss{}, "mse");
  body(nn::HuberLoss{.delta = 0.4}, "huber");
  body(nn::SmoothL1Loss{.beta = 0.3}, "smooth_l1");
  body(nn::SmoothL1Loss{.beta = 0}, "smooth_l1 without beta");
  body(nn::LpLoss{.p = 1}, "l1");
  body(nn::LpLoss{.p = 1.5}, "l1.5");
  body(nn::LpLoss{.p = 3}, "l3");
  body(nn::KLDivLoss{.log_target = true}, "kl_div of logarithms");
  body(nn::PoissonNllLoss{}, "poisson");
  body(nn::HingeEmbeddingLoss{}, "hinge");
  body(nn::SoftMarginLoss{}, "soft_margin");
}

// In f64, at points without a kink.
TEST(PairLoss, HasTheRightGradients) {
  for_each_pair_loss([](const auto& loss, const char* name) {
    SCOPED_TRACE(name);
    test::expect_gradients(loss, test::spread_tensor<2>({3, 4}, cpu()), [](const auto& l, const Tensor<2>& x) {
      const auto targets = Tensor<2>::from_data(TensorData(test::spread(12, 3), {3, 4}), {x.device(), DType::f64});
      return l.forward_no_reduction(x, targets);
    });
  });
}

TEST(PairLoss, ReducesToTheMeanTheSumAndTheMeanOfABatch) {
  const auto x = test::spread_tensor<2>({3, 4}, cpu()), t = test::spread_tensor<2>({3, 4}, cpu(), 3);
  for_each_pair_loss([&](const auto& loss, const char* name) {
    SCOPED_TRACE(name);
    double sum = 0;
    for (const double each : test::values(loss.forward_no_reduction(x, t))) sum += each;
    expect_near(loss(x, t, Reduction::sum), {sum});
    expect_near(loss(x, t, Reduction::mean), {sum / 12});
    expect_near(loss(x, t, Reduction::batch_mean), {sum / 3});
  });
}

TEST(PairLoss, OfAKlDivergenceIsUsuallyTheMeanOfTheBatch) {
  const auto x = test::spread_tensor<2>({3, 4}, cpu()), t = test::spread_tensor<2>({3, 4}, cpu(), 3);
  const nn::KLDivLoss loss{.log_target = true};
  expect_near(loss(x, t), test::values(loss(x, t, Reduction::batch_mean)));
  const nn::HuberLoss huber;
  expect_near(huber(x, t), test::values(huber(x, t, Reduction::mean)));
}

TEST(PairLoss, RefusesShapesThatDifferNamingBoth) {
  for_each_pair_loss([&](const auto& loss, const char* name) {
    EXPECT_THAT(error_of([&] {
                  loss(vec({1, 2}), vec({1, 2, 3}));
                }),
                ::testing::HasSubstr("predictions f32[2] and targets f32[3] differ in shape"))
        << name;
  });
}

TEST(PairLoss, TakesWholeNumbersAndBoolsAsTargets) {
  const auto x = vec({0.5, -2});
  expect_near(nn::HingeEmbeddingLoss{}.forward_no_reduction(x, ints({1, -1})), {0.5, 3});
  expect_near(nn::MseLoss{}.forward_no_reduction(x, ints({1, -1}).greater(0)), {0.25, 4});
}

// Huber's loss is linear for large errors: an infinite error has a finite slope, and a NaN stays a NaN.
TEST(PairLoss, OfHuberIsFiniteWhereItCanBe) {
  const auto x = vec({kInf, -kInf, 3e38, std::nan(""), 0.5}, ad()).require_grad();
  const auto loss = nn::HuberLoss{.delta = 2}.forward_no_reduction(x, vec({0, 0, 0, 0, 0.5}, ad()));
  const auto each = test::values(loss);
  EXPECT_EQ(each[0], kInf);
  EXPECT_EQ(each[1], kInf);
  EXPECT_TRUE(std::isnan(each[3]));
  const auto g = test::values(*x.grad(loss.sum().backward()));
  EXPECT_EQ(g[0], 2);
  EXPECT_EQ(g[1], -2);
  EXPECT_EQ(g[2], 2);
  EXPECT_EQ(g[4], 0);
}

TEST(PairLoss, OfPowersIsFlatWhereNothingIsWrong) {
  for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const auto x = vec({1, 2}, ad()).require_grad();
    const auto g = x.grad(nn::LpLoss{.p = p}(x, x.detach()).backward());
    EXPECT_THAT(test::values(*g), ::testing::Each(0.0)) << p;
  }
}

TEST(PairLoss, OfAKlDivergenceCountsATargetOfZeroAsNothing) {
  const auto x = vec({-1, -2}, ad()).require_grad();
  const auto t = vec({0, 1}, ad()).require_grad();
  const auto loss = nn::KLDivLoss{}(x, t, Reduction::sum);
  expect_near(loss, {2});
  const auto gradients = loss.backward();
  EXPECT_EQ(test::values(*x.grad(gradients)), (std::vector<double>{0, -1}));
  for (const double g : test::values(*t.grad(gradients))) EXPECT_TRUE(std::isfinite(g));
}

TEST(PairLoss, OfAPoissonDistributionAddsStirlingsFormulaAboveOne) {
  const auto x = vec({0.5, 0.5, 0.5}, ad()).require_grad(), t = vec({0, 1, 3}, ad()).require_grad();
  const nn::PoissonNllLoss plain, full{.full = true};
  const auto without = test::values(plain.forward_no_reduction(x, t));
  const auto with = full.forward_no_reduction(x, t);
  const double stirling = 3 * std::log(3.0) - 3 + 0.5 * std::log(6 * M_PI);
  expect_near(with, {without[0], without[1], without[2] + stirling});
  const auto gradients = with.sum().backward();
  for (const double g : test::values(*t.grad(gradients))) EXPECT_TRUE(std::isfinite(g));
}

TEST(PairLoss, OfASoftMarginDoesNotOverflow) {
  const auto x = vec({-500, 500}, ad()).require_grad();
  const auto loss = nn::SoftMarginLoss{}.forward_no_reduction(x, ints({1, 1}, ad()));
  expect_near(loss, {500, 0});
  expect_near(*x.grad(loss.sum().backward()), {-1, 0});
}

TEST(PairLoss, OfHalfPrecisionIsSummedInF32) {
  const auto x = Tensor<1>::full({4096}, 2, {cpu(), DType::f16}), t = Tensor<1>::zeros({4096}, {cpu(), DType::f16});
  expect_near(nn::HuberLoss{.delta = 10}(x, t), {2});
  expect_near(nn::LpLoss{.p = 3}(x, t), {8});
}

TEST(GaussianNll, TakesTheVarianceAsAtLeastEps) {
  const nn::GaussianNLLLoss loss{.eps = 0.25};
  expect_near(loss.forward_no_reduction(vec({1, 1}), vec({3, 1}), vec({1, 0})), {2, 0.5 * std::log(0.25)});
  const nn::GaussianNLLLoss full{.full = true};
  expect_near(full(vec({1}), vec({1}), vec({1})), {0.5 * std::log(2 * M_PI)});
  const auto x = Tensor<2>::ones({2, 3}, cpu()), t = Tensor<2>::zeros({2, 3}, cpu());
  expect_near(nn::GaussianNLLLoss{}(x, t, Tensor<2>::full({2, 1}, 2, cpu())), {(std::log(2.0) + 0.5) / 2});
  EXPECT_EQ(error_of([] { nn::GaussianNLLLossConfig{.eps = 0}.init(); }),
            "GaussianNLLLossConfig: eps is 0.000000, must be positive");
}

TEST(MarginRanking, AsksForADistanceInTheDirectionOfTheTarget) {
  const nn::MarginRankingLoss loss{.margin = 0.5};
  expect_near(loss.forward_no_reduction(vec({1, 1, 3}), vec({2, 2, 1}), vec({1, -1, 1})), {1.5, 0, 0});
  expect_near(loss(vec({1, 1, 3}), vec({2, 2, 1}), ints({1, -1, 1}), Reduction::sum), {1.5});
}

TEST(TripletMargin, OfEqualPointsHasAGradientWithoutNan) {
  const auto points = Tensor<2>::from_data({{1, 2}, {3, 4}}, ad()).require_grad();
  for (const double p : {1.0, 2.0, 3.0}) {
    const auto loss = nn::TripletMarginLoss{.margin = 1, .p = p}(points, points.detach(), points.detach());
    expect_near(loss, {1});
    EXPECT_THAT(test::values(*points.grad(loss.backward())), ::testing::Each(0.0)) << p;
  }
}

TEST(MultiMargin, LeavesTheTargetsOwnClassOut) {
  const auto x = Tensor<2>::from_data({{0.1f, 0.2f, 0.7f}, {0.9f, 0.05f, 0.05f}}, cpu());
  expect_near(nn::MultiMarginLoss{}.forward_no_reduction(x, ints({2, 0})), {0.3, 0.1});
  expect_near(nn::MultiMarginLoss{.p = 2}.forward_no_reduction(x, ints({2, 0})), {(0.16 + 0.25) / 3, 0.045 / 3});
  test::expect_gradients(nn::MultiMarginLoss{.margin = 0.7, .p = 2}, test::spread_tensor<2>({3, 4}, cpu()),
                         [](const auto& l, const Tensor<2>& y) {
                           return l.forward_no_reduction(y, ints({3, 0, 1}, y.device()));
                         });
  EXPECT_EQ(error_of([&] { nn::MultiMarginLoss{}(x, ints({0})); }),
            "multi_margin_loss: input f32[2, 3] and target i64[1] have different batch sizes");
  EXPECT_EQ(error_of([] { nn::MultiMarginLossConfig{.p = 3}.init(); }),
            "MultiMarginLossConfig: p is 3, must be 1 or 2");
}

TEST(CosineEmbedding, OfAVectorOfZerosHasAGradientWithoutNan) {
  const auto a = Tensor<2>::from_data({{0, 0}, {1, 0}, {1, 1}}, ad()).require_grad();
  const auto b = Tensor<2>::from_data({{1, 2}, {1, 0}, {1, 1}}, ad());
  const nn::CosineEmbeddingLoss loss{.margin = 0.5};
  const auto each = loss.forward_no_reduction(a, b, ints({1, -1, 0}, ad()));
  expect_near(each, {1, 0.5, 0});
  for (const double g : test::values(*a.grad(each.sum().backward()))) EXPECT_TRUE(std::isfinite(g));
}

TEST(CosineEmbedding, IsConfiguredWithItsReduction) {
  const nn::CosineEmbeddingLossConfig config{.margin = 0.25, .reduction = Reduction::sum};
  const auto again = nn::CosineEmbeddingLossConfig::from_json(config.to_json());
  EXPECT_EQ(again.reduction, Reduction::sum);
  EXPECT_EQ(error_of([] { nn::CosineEmbeddingLossConfig::from_json(R"({"reduction": "most"})", "loss.json"); }),
            "loss.json.reduction is \"most\"; there are: mean, sum, batch_mean, auto");
}

TEST(CrossEntropyWithLogits, IsTheMeanOverAllButTheLastDim) {
  const auto x = Tensor<3>::zeros({2, 3, 4}, cpu());
  expect_near(loss::cross_entropy_with_logits(x, Tensor<3>::full({2, 3, 4}, 0.25, cpu())), {std::log(4.0)});
}

TEST(BinaryCrossEntropy, TakesTargetsBetweenZeroAndOne) {
  const auto p = vec({0.25, 0.75}), t = vec({0.5, 1});
  const double first = -(0.5 * std::log(0.25) + 0.5 * std::log(0.75)), second = -std::log(0.75);
  expect_near(nn::BinaryCrossEntropyLoss{}(p, t), {(first + second) / 2});
  const auto weighted = nn::BinaryCrossEntropyLossConfig{.weights = {{1, 3}}}.init(cpu());
  expect_near(weighted(p, t), {(2 * first + 3 * second) / 2});
  expect_near(weighted(p, ints({0, 1})), test::values(weighted(p, vec({0, 1}))));
  expect_near(weighted(p, ints({0, 1}).equal(1)), test::values(weighted(p, vec({0, 1}))));
}

}  // namespace
}  // namespace burn
