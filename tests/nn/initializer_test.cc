// Initial values of parameters: the distribution of each kind of initializer, and arguments that are refused.
#include "nn/module/initializer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using nn::Initializer;
using test::cpu;
using test::error_of;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Lt;

struct Statistics {
  double mean, deviation, largest;
};

// Statistics of 64 x 64 initial values, with a fan-in of 48 and a fan-out of 16.
Statistics statistics(const Initializer& initializer) {
  cpu().seed(5);
  const auto x = test::values(initializer.init<2>({64, 64}, cpu(), 48, 16));
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  double squares = 0, largest = 0;
  for (const double v : x) {
    squares += (v - mean) * (v - mean);
    largest = std::max(largest, std::abs(v));
  }
  return {mean, std::sqrt(squares / static_cast<double>(x.size())), largest};
}

void expect_uniform(const Initializer& initializer, double bound) {
  const auto s = statistics(initializer);
  EXPECT_NEAR(s.mean, 0, 0.05 * bound) << initializer.kind;
  EXPECT_NEAR(s.deviation, bound / std::sqrt(3.0), 0.03 * bound) << initializer.kind;
  EXPECT_LE(s.largest, bound * 1.000001) << initializer.kind;
  EXPECT_GT(s.largest, bound * 0.99) << initializer.kind;
}

void expect_normal(const Initializer& initializer, double mean, double deviation) {
  const auto s = statistics(initializer);
  EXPECT_NEAR(s.mean, mean, 0.08 * deviation) << initializer.kind;
  EXPECT_NEAR(s.deviation, deviation, 0.05 * deviation) << initializer.kind;
}

TEST(Initializer, FillsWithNumbers) {
  EXPECT_THAT(test::values(Initializer::constant(2.5).init<1>({3}, cpu())), Each(2.5));
  EXPECT_THAT(test::values(Initializer::ones().init<1>({3}, cpu())), Each(1));
  EXPECT_THAT(test::values(Initializer::zeros().init<1>({3}, cpu())), Each(0));
}

TEST(Initializer, DrawsFromItsDistribution) {
  EXPECT_THAT(test::values(Initializer::uniform(2, 3).init<1>({500}, cpu())), Each(AllOf(Ge(2), Lt(3.0001))));
  expect_normal(Initializer::normal(1, 0.5), 1, 0.5);
  expect_uniform(Initializer::kaiming_uniform(2), 2 * std::sqrt(3.0 / 48));
  expect_uniform(Initializer::kaiming_uniform(1, true), std::sqrt(3.0 / 16));
  expect_normal(Initializer::kaiming_normal(2), 0, 2 / std::sqrt(48.0));
  expect_uniform(Initializer::xavier_uniform(2), 2 * std::sqrt(3.0 * 2 / 64));
  expect_normal(Initializer::xavier_normal(1), 0, std::sqrt(2.0 / 64));
  expect_uniform(nn::default_initializer(), 1 / std::sqrt(48.0));
}

TEST(Initializer, DrawsOrthogonalRowsOrColumnsOfTheLengthOfItsGain) {
  // x x^T is gain^2 I if there are fewer rows than columns, otherwise x^T x is.
  const auto wide = Initializer::orthogonal(2).init<3>({4, 3, 5}, cpu()).reshape<2>({4, 15});
  EXPECT_TRUE(wide.matmul(wide.t()).all_close(Tensor<2>::eye(4, cpu()) * 4, 1e-5, 1e-4));
  const auto tall = Initializer::orthogonal().init<2>({7, 3}, cpu());
  EXPECT_TRUE(tall.t().matmul(tall).all_close(Tensor<2>::eye(3, cpu()), 1e-5, 1e-5));
  const auto half = Initializer::orthogonal().init<2>({3, 3}, {cpu(), DType::f16});
  EXPECT_EQ(half.dtype(), DType::f16);
  // Both signs must occur: the decomposition alone would always return the same one.
  const auto firsts = test::values(Initializer::orthogonal().init<2>({64, 64}, cpu()));
  EXPECT_GT(std::ranges::count_if(firsts, [](auto x) { return x > 0; }), 64 * 20);
  EXPECT_EQ((Initializer::orthogonal().init<2>({0, 3}, cpu()).dims()[0]), 0);
}

TEST(Initializer, RepeatsWithTheSeedOnAnAutodiffDeviceToo) {
  cpu().seed(3);
  const auto a = nn::LinearConfig{.d_input = 4, .d_output = 4}.init(cpu());
  cpu().seed(3);
  const auto b = nn::LinearConfig{.d_input = 4, .d_output = 4}.init(test::ad());
  EXPECT_EQ(test::values(a.weight.val()), test::values(b.weight.val()));
  EXPECT_EQ(test::values(a.bias->val()), test::values(b.bias->val()));
}

TEST(Initializer, RefusesWhatItCannotMake) {
  EXPECT_EQ(
      error_of([] { (void)Initializer{.kind = "diagonal"}.init<1>({1}, cpu()); }),
      "Initializer: there is no kind \"diagonal\"; there are: orthogonal, constant, ones, zeros, uniform, normal, "
      "kaiming_uniform, "
      "kaiming_normal, xavier_uniform, xavier_normal");
  EXPECT_EQ(error_of([] { (void)Initializer::orthogonal().init<1>({4}, cpu()); }),
            "Initializer: orthogonal is for two dims or more, the tensor is f32[4]");
  EXPECT_EQ(error_of([] { (void)Initializer::kaiming_uniform().init<1>({1}, cpu()); }),
            "Initializer: kaiming_uniform scales by the fan-in, which is not given");
  EXPECT_EQ(error_of([] { (void)Initializer::kaiming_normal(1, true).init<1>({1}, cpu(), 4, 0); }),
            "Initializer: kaiming_normal scales by the fan-out, which is 0");
  EXPECT_EQ(error_of([] { (void)Initializer::xavier_normal().init<1>({1}, cpu(), 4); }),
            "Initializer: xavier_normal scales by the fan-out, which is not given");
}

}  // namespace
}  // namespace burn
