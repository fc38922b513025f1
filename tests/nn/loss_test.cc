// Losses: values, gradients, options, and arguments that are refused.
#include <cmath>
#include <limits>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;
using ::testing::Each;

Tensor<1, Int> classes(const std::vector<std::int64_t>& ids, const Device& device) {
  return Tensor<1, Int>::from_data(TensorData(ids, {static_cast<std::int64_t>(ids.size())}), device);
}

template <int D>
Tensor<D> gradient_of(const Tensor<D>& x, const Gradients& gradients) {
  return x.grad(gradients).value_or(Tensor<D>{});
}

// -log softmax(row)[target], in doubles.
double nll(const std::vector<double>& row, std::size_t target) {
  double sum = 0;
  for (const double x : row) sum += std::exp(x);
  return std::log(sum) - row[target];
}

const std::vector<double> kFirst = {1, 2, 3}, kSecond = {0.5, -1, 0}, kThird = {-2, 0, 1};
Tensor<2> logits(const Device& device) { return Tensor<2>::from_data({{1, 2, 3}, {0.5f, -1, 0}, {-2, 0, 1}}, device); }

double smoothed(const std::vector<double>& row, std::size_t target, double a, const std::vector<double>& weights) {
  double loss = 0;
  for (std::size_t k = 0; k < row.size(); ++k)
    loss += weights[k] * ((k == target ? 1 - a : 0) + a / static_cast<double>(row.size())) * nll(row, k);
  return loss;
}

TEST(CrossEntropy, IsTheMeanOverTheBatch) {
  const auto loss = nn::CrossEntropyLoss{}(logits(cpu()), classes({2, 0, 1}, cpu()));
  EXPECT_EQ(loss.dims()[0], 1);
  expect_near(loss, {(nll(kFirst, 2) + nll(kSecond, 0) + nll(kThird, 1)) / 3});
}

TEST(CrossEntropy, WeightedIsDividedByTheWeightsSeen) {
  const auto loss = nn::CrossEntropyLossConfig{.weights = {{1, 2, 5}}}.init(cpu());
  expect_near(loss(logits(cpu()), classes({2, 0, 0}, cpu())),
              {(5 * nll(kFirst, 2) + nll(kSecond, 0) + nll(kThird, 0)) / 7});
}

TEST(CrossEntropy, PadsCountButDoNotContribute) {
  const auto targets = classes({2, 0, 1}, cpu());
  expect_near(nn::CrossEntropyLoss{.pad_tokens = {0}}(logits(cpu()), targets), {(nll(kFirst, 2) + nll(kThird, 1)) / 3});
  expect_near(nn::CrossEntropyLoss{.pad_tokens = {0, 1}}(logits(cpu()), targets), {nll(kFirst, 2) / 3});
  const auto weighted = nn::CrossEntropyLossConfig{.pad_tokens = {0}, .weights = {{1, 2, 5}}}.init(cpu());
  expect_near(weighted(logits(cpu()), targets), {(5 * nll(kFirst, 2) + 2 * nll(kThird, 1)) / 8});
}

TEST(CrossEntropy, PadsNeedNotBeClasses) {
  const auto targets = classes({2, -100, 1}, ad());
  const auto x = logits(ad()).require_grad();
  const auto loss = nn::CrossEntropyLoss{.pad_tokens = {-100, 3}}(x, targets);
  const auto gradients = loss.backward();
  expect_near(loss, {(nll(kFirst, 2) + nll(kThird, 1)) / 3});
  const auto of_pad = gradient_of(x, gradients).slice({s(1, 2)});
  EXPECT_THAT(test::values(of_pad), Each(0));
  const auto weighted = nn::CrossEntropyLossConfig{.pad_tokens = {-100}, .weights = {{1, 2, 5}}};
  expect_near(weighted.init(ad())(x, targets), {(5 * nll(kFirst, 2) + 2 * nll(kThird, 1)) / 7});
  const nn::CrossEntropyLoss smooth{.pad_tokens = {-100}, .smoothing = 0.3};
  const std::vector<double> one = {1, 1, 1};
  expect_near(smooth(x, targets), {(smoothed(kFirst, 2, 0.3, one) + smoothed(kThird, 1, 0.3, one)) / 3});
  // Other numbers that are no class are still an error.
  EXPECT_THAT(error_of([&] { (void)nn::CrossEntropyLoss{.pad_tokens = {3}}(x, targets).to_data(); }),
              ::testing::HasSubstr("index -100 is outside 0..2"));
}

TEST(CrossEntropy, SmoothsItsTargets) {
  const auto targets = classes({2, 0, 1}, cpu());
  const std::vector<double> one = {1, 1, 1}, weights = {1, 2, 5};
  const auto sum = [&](const std::vector<double>& w) {
    return smoothed(kFirst, 2, 0.3, w) + smoothed(kSecond, 0, 0.3, w) + smoothed(kThird, 1, 0.3, w);
  };
  expect_near(nn::CrossEntropyLoss{.smoothing = 0.3}(logits(cpu()), targets), {sum(one) / 3});
  const auto weighted = nn::CrossEntropyLossConfig{.weights = weights, .smoothing = 0.3}.init(cpu());
  expect_near(weighted(logits(cpu()), targets), {sum(weights) / 8});
  expect_near(nn::CrossEntropyLoss{.smoothing = 0.0}(logits(cpu()), targets),
              test::values(nn::CrossEntropyLoss{}(logits(cpu()), targets)));
}

TEST(CrossEntropy, TakesProbabilities) {
  const nn::CrossEntropyLoss loss{.logits = false};
  const auto p = Tensor<2>::from_data({{0.25f, 0.75f}, {0.5f, 0.5f}}, cpu());
  expect_near(loss(p, classes({1, 0}, cpu())), {-(std::log(0.75) + std::log(0.5)) / 2});
  const auto certain = Tensor<2>::from_data({{0, 1}}, ad()).require_grad();
  const auto y = loss(certain, classes({0}, ad()));
  const auto gradients = y.backward();
  EXPECT_TRUE(std::isfinite(y.into_scalar<double>()));
  for (const double g : test::values(gradient_of(certain, gradients))) EXPECT_TRUE(std::isfinite(g));
}

TEST(CrossEntropy, HasTheRightGradients) {
  const auto check = [](const nn::CrossEntropyLossConfig& config) {
    const auto loss = config.init(cpu());
    test::expect_gradients(loss, logits(cpu()), [](const auto& m, const auto& x) {
      return m(x, classes({2, 0, 1}, x.device()));
    });
  };
  check({});
  check({.weights = {{1, 2, 5}}});
  check({.pad_tokens = {1}, .smoothing = 0.2});
  check({.pad_tokens = {1}, .weights = {{1, 2, 5}}, .smoothing = 0.2});
}

TEST(CrossEntropy, OfLargeLogitsStaysFinite) {
  const auto x = Tensor<2>::from_data({{1e4f, -1e4f}}, ad()).require_grad();
  const auto loss = nn::CrossEntropyLoss{}(x, classes({1}, ad()));
  const auto gradients = loss.backward();
  expect_near(loss, {2e4});
  expect_near(gradient_of(x, gradients), {1, -1});
}

TEST(CrossEntropy, WeightsMoveWithTheModuleButDoNotTrain) {
  const auto loss = nn::CrossEntropyLossConfig{.weights = {{1, 2}}}.init(cpu());
  EXPECT_EQ(loss.num_params(), 0);
  const Device other = Device::new_session("cpu");
  const auto moved = loss.to_device(other);
  expect_near(moved(Tensor<2>::from_data({{0, 0}}, other), classes({1}, other)), {std::log(2)});
}

TEST(CrossEntropy, RefusesWhatDoesNotFit) {
  EXPECT_EQ(error_of([] { (void)nn::CrossEntropyLoss{}(logits(cpu()), classes({1}, cpu())); }),
            "cross_entropy: input f32[3, 3] and targets i64[1] have different batch sizes");
  const auto weighted = nn::CrossEntropyLossConfig{.weights = {{1, 2}}}.init(cpu());
  EXPECT_EQ(error_of([&] {
              (void)weighted(logits(cpu()), classes({0, 1, 2}, cpu()));
            }),
            "cross_entropy: 2 weights for 3 classes of f32[3, 3]");
  EXPECT_EQ(error_of([] {
              (void)nn::CrossEntropyLossConfig{.weights = {{1, 0}}}.init(cpu());
            }),
            "CrossEntropyLossConfig: a weight is 0.000000, must be positive");
  EXPECT_EQ(error_of([] { (void)nn::CrossEntropyLossConfig{.smoothing = 2}.init(cpu()); }),
            "CrossEntropyLossConfig: smoothing is 2, must be between 0 and 1");
}

TEST(Mse, ReducesAsTold) {
  const auto a = Tensor<2>::from_data({{1, 2}, {3, 4}}, cpu());
  const auto b = Tensor<2>::from_data({{1, 0}, {0, 0}}, cpu());
  expect_near(nn::MseLoss{}(a, b), {29.0 / 4});
  expect_near(nn::MseLoss{}(a, b, nn::Reduction::auto_), {29.0 / 4});
  expect_near(nn::MseLoss{}(a, b, nn::Reduction::sum), {29});
  expect_near(nn::MseLoss{}(a, b, nn::Reduction::batch_mean), {29.0 / 2});
  expect_near(nn::MseLoss{}.forward_no_reduction(a, b), {0, 4, 9, 16});
}

TEST(Mse, HasTheRightGradients) {
  test::expect_gradients(nn::MseLoss{}, test::spread_tensor<2>({2, 3}, cpu()),
                         [](const auto& m, const auto& x) { return m(x, Tensor<2>::full_like(x, 0.3)); });
}

TEST(Mse, RefusesToBroadcast) {
  EXPECT_EQ(error_of([] {
              (void)nn::MseLoss{}(Tensor<2>::ones({3, 1}, cpu()), Tensor<2>::ones({3, 3}, cpu()));
            }),
            "mse_loss: predictions f32[3, 1] and targets f32[3, 3] differ in shape");
}

double bce(double p, double t) { return -(t * std::log(p) + (1 - t) * std::log(1 - p)); }

TEST(BinaryCrossEntropy, TakesProbabilitiesOrLogits) {
  const auto targets = classes({1, 0, 1}, cpu());
  const std::vector<double> x = {0.5, -1, 2};
  double expected = 0;
  for (std::size_t i = 0; i < 3; ++i) expected += bce(1 / (1 + std::exp(-x[i])), i == 1 ? 0 : 1) / 3;
  const auto logits = Tensor<1>::from_data({0.5f, -1, 2}, cpu());
  expect_near(nn::BinaryCrossEntropyLoss{.logits = true}(logits, targets), {expected});
  expect_near(nn::BinaryCrossEntropyLoss{}(logits.sigmoid(), targets), {expected});
}

TEST(BinaryCrossEntropy, WeighsByTargetOrByLabel) {
  const auto one = nn::BinaryCrossEntropyLossConfig{.weights = {{3, 1}}}.init(cpu());
  expect_near(one(Tensor<1>::from_data({0.25f, 0.5f}, cpu()), classes({0, 1}, cpu())),
              {(3 * bce(0.25, 0) + bce(0.5, 1)) / 2});
  const auto many = nn::BinaryCrossEntropyLossConfig{.weights = {{1, 2, 5}}}.init(cpu());
  const auto p = Tensor<2>::from_data({{0.25f, 0.5f, 0.75f}}, cpu());
  expect_near(many(p, Tensor<2, Int>::from_data({{1, 0, 1}}, cpu())),
              {(bce(0.25, 1) + 2 * bce(0.5, 0) + 5 * bce(0.75, 1)) / 3});
}

TEST(BinaryCrossEntropy, SmoothsTowardsTheNumberOfLabels) {
  const nn::BinaryCrossEntropyLoss loss{.smoothing = 0.2};
  expect_near(loss(Tensor<1>::from_data({0.25f}, cpu()), classes({1}, cpu())), {bce(0.25, 0.9)});
  const auto p = Tensor<2>::from_data({{0.25f, 0.5f, 0.75f, 0.5f}}, cpu());
  const auto t = Tensor<2, Int>::from_data({{1, 0, 0, 0}}, cpu());
  expect_near(loss(p, t), {(bce(0.25, 0.85) + bce(0.5, 0.05) + bce(0.75, 0.05) + bce(0.5, 0.05)) / 4});
}

TEST(BinaryCrossEntropy, HasTheRightGradients) {
  const auto targets = [](const Device& device) { return Tensor<2, Int>::from_data({{1, 0, 1}, {0, 0, 1}}, device); };
  const auto call = [&](const auto& m, const auto& x) { return m(x, targets(x.device())); };
  test::expect_gradients(
      nn::BinaryCrossEntropyLossConfig{.weights = {{1, 2, 5}}, .smoothing = 0.1, .logits = true}.init(cpu()),
      test::spread_tensor<2>({2, 3}, cpu()), call);
  test::expect_gradients(nn::BinaryCrossEntropyLoss{}, test::spread_tensor<2>({2, 3}, cpu()) * 0.4 + 0.5, call, 1e-5);
}

TEST(BinaryCrossEntropy, AtTheEdgesStaysFinite) {
  const auto p = Tensor<1>::from_data({0, 1, 0, 1}, ad()).require_grad();
  const auto loss = nn::BinaryCrossEntropyLoss{}(p, classes({0, 1, 1, 0}, ad()));
  const auto gradients = loss.backward();
  EXPECT_TRUE(std::isfinite(loss.into_scalar<double>()));
  EXPECT_THAT(test::values(gradient_of(p, gradients)),
              Each(::testing::Truly([](double g) { return std::isfinite(g); })));
}

TEST(BinaryCrossEntropy, OfAZeroLogitHasASlope) {
  const auto x = Tensor<1>::zeros({2}, ad()).require_grad();
  const auto gradients = nn::BinaryCrossEntropyLoss{.logits = true}(x, classes({1, 0}, ad())).backward();
  expect_near(gradient_of(x, gradients), {-0.25, 0.25});
}

TEST(BinaryCrossEntropy, RefusesWhatDoesNotFit) {
  const auto one = nn::BinaryCrossEntropyLossConfig{.weights = {{3, 1}}}.init(cpu());
  EXPECT_EQ(error_of([&] {
              (void)one(Tensor<2>::ones({1, 3}, cpu()), Tensor<2, Int>::ones({1, 3}, cpu()));
            }),
            "binary_cross_entropy: 2 weights, but f32[1, 3] needs 3");
  EXPECT_EQ(error_of([&] { (void)one(Tensor<1>::ones({3}, cpu()), Tensor<1, Int>::ones({2}, cpu())); }),
            "binary_cross_entropy: input f32[3] and targets i64[2] differ in shape");
}

}  // namespace
}  // namespace burn
