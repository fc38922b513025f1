// Losses over alignments, against explicit sums over all paths.
#include <cmath>

#include "nn/functional.h"
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::cpu;
using test::error_of;
using test::expect_near;
using test::values;
using ::testing::HasSubstr;

// -log of the probability of `target`: the sum over every sequence of one class per step that spells it.
double ctc_by_paths(const std::vector<std::vector<double>>& log_probs, const std::vector<int>& target, int blank) {
  const auto classes = log_probs[0].size();
  double sum = 0;
  std::vector<std::size_t> path(log_probs.size(), 0);
  while (true) {
    std::vector<int> spelled;
    double log_prob = 0;
    for (std::size_t t = 0; t < path.size(); ++t) {
      log_prob += log_probs[t][path[t]];
      const int c = static_cast<int>(path[t]);
      if (c != blank && (t == 0 || path[t - 1] != path[t])) spelled.push_back(c);
    }
    if (spelled == target) sum += std::exp(log_prob);
    std::size_t t = 0;
    while (t < path.size() && ++path[t] == classes) path[t++] = 0;
    if (t == path.size()) return -std::log(sum);
  }
}

TEST(CTCLoss, IsTheSumOverAllPaths) {
  const auto logits = test::spread_tensor<3>({5, 3, 3}, cpu());
  const auto log_probs = activation::log_softmax(logits, 2);
  const auto numbers = values(log_probs);
  const std::vector<std::vector<int>> targets{{1, 1}, {2, 1, 2}, {}};
  const std::vector<std::size_t> steps{5, 4, 3};
  std::vector<double> expected;
  for (std::size_t n = 0; n < 3; ++n) {
    std::vector<std::vector<double>> rows;
    for (std::size_t t = 0; t < steps[n]; ++t)
      rows.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>((t * 3 + n) * 3),
                        numbers.begin() + static_cast<std::ptrdiff_t>((t * 3 + n) * 3 + 3));
    expected.push_back(ctc_by_paths(rows, targets[n], 0));
  }
  // Labels beyond the length of a target are ignored, whatever they are.
  const auto labels = Tensor<2, Int>::from_data({{1, 1, -7}, {2, 1, 2}, {99, 99, 99}}, cpu());
  const auto input_lengths = Tensor<1, Int>::from_data({5, 4, 3}, cpu());
  const auto target_lengths = Tensor<1, Int>::from_data({2, 3, 0}, cpu());
  expect_near(module::ctc_loss(log_probs, labels, input_lengths, target_lengths), expected);
  const auto mean = (expected[0] / 2 + expected[1] / 3 + expected[2]) / 3;
  expect_near(nn::CTCLossConfig{}.init().forward_with_reduction(log_probs, labels, input_lengths, target_lengths),
              {mean});
}

TEST(CTCLoss, WithoutAnAlignmentIsInfiniteOrZero) {
  const auto log_probs = activation::log_softmax(Tensor<3>::zeros({2, 1, 3}, cpu()), 2);
  const auto labels = Tensor<2, Int>::from_data({{1, 1}}, cpu());
  const auto two = Tensor<1, Int>::from_data({2}, cpu());
  EXPECT_EQ(values(nn::CTCLoss{}(log_probs, labels, two, two))[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(values(nn::CTCLoss{.zero_infinity = true}(log_probs, labels, two, two))[0], 0);
}

TEST(CTCLoss, OfNoSequencesOrStepsHasItsShape) {
  const auto none = Tensor<1, Int>::zeros({0}, cpu());
  EXPECT_EQ(module::ctc_loss(Tensor<3>::zeros({4, 0, 3}, cpu()), Tensor<2, Int>::zeros({0, 2}, cpu()), none, none)
                .to_data()
                .shape(),
            (ir::Shape{0}));
  const auto lengths = Tensor<1, Int>::from_data({0, 1}, cpu());
  const auto loss = values(module::ctc_loss(Tensor<3>::zeros({0, 2, 3}, cpu()), Tensor<2, Int>::ones({2, 1}, cpu()),
                                            Tensor<1, Int>::zeros({2}, cpu()), lengths));
  EXPECT_EQ(loss[0], 0);
  EXPECT_EQ(loss[1], std::numeric_limits<double>::infinity());
}

TEST(CTCLoss, OfManyStepsKeepsItsDigits) {
  // Uniform over two classes: every path has probability 2^-t, and exactly one path spells the empty target.
  const auto log_probs = activation::log_softmax(Tensor<3>::zeros({2000, 1, 2}, cpu()), 2);
  const auto loss = module::ctc_loss(log_probs, Tensor<2, Int>::ones({1, 1}, cpu()),
                                     Tensor<1, Int>::from_data({2000}, cpu()), Tensor<1, Int>::from_data({0}, cpu()));
  EXPECT_NEAR(values(loss)[0], 2000 * std::log(2.0), 0.001);
}

TEST(CTCLoss, RefusesWhatDoesNotFit) {
  const auto log_probs = Tensor<3>::zeros({4, 2, 3}, cpu());
  const auto two = Tensor<1, Int>::ones({2}, cpu());
  const auto labels = Tensor<2, Int>::ones({2, 2}, cpu());
  EXPECT_THAT(error_of([&] { module::ctc_loss(log_probs, labels, two, two, 3); }),
              HasSubstr("ctc_loss: the blank 3 is not one of 3 classes"));
  EXPECT_THAT(error_of([&] {
                module::ctc_loss(log_probs, Tensor<2, Int>::ones({1, 2}, cpu()), two, two);
              }),
              HasSubstr("are not of one batch"));
  const auto long_ones = Tensor<1, Int>::from_data({5, 4}, cpu());
  EXPECT_THAT(error_of([&] { values(module::ctc_loss(log_probs, labels, long_ones, two)); }),
              HasSubstr("is outside 0..3"));
}

// The probability of the rest of all paths from (t, u): every order of the remaining labels and blanks, then a last
// blank.
double rnnt_by_paths(const std::vector<double>& p, std::size_t t, std::size_t u, std::size_t steps,
                     const std::vector<int>& labels, std::size_t width, std::size_t classes) {
  const auto at = [&](std::size_t c) { return p[(t * width + u) * classes + c]; };
  double sum = t + 1 == steps ? (u == labels.size() ? std::exp(at(0)) : 0)
                              : std::exp(at(0)) * rnnt_by_paths(p, t + 1, u, steps, labels, width, classes);
  if (u < labels.size())
    sum +=
        std::exp(at(static_cast<std::size_t>(labels[u]))) * rnnt_by_paths(p, t, u + 1, steps, labels, width, classes);
  return sum;
}

TEST(RNNTLoss, IsTheSumOverAllPaths) {
  const auto logits = test::spread_tensor<4>({2, 4, 3, 3}, cpu());
  const auto numbers = values(activation::log_softmax(logits, 3));
  const std::vector<double> second(numbers.begin() + 36, numbers.end());
  const auto labels = Tensor<2, Int>::from_data({{1, 2}, {2, 5}}, cpu());
  const auto loss = nn::RNNTLossConfig{}.init()(logits, labels, Tensor<1, Int>::from_data({4, 3}, cpu()),
                                                Tensor<1, Int>::from_data({2, 1}, cpu()));
  expect_near(loss, {-std::log(rnnt_by_paths(numbers, 0, 0, 4, {1, 2}, 3, 3)),
                     -std::log(rnnt_by_paths(second, 0, 0, 3, {2}, 3, 3))});
  EXPECT_THAT(error_of([&] {
                nn::RNNTLoss{}(logits, Tensor<2, Int>::ones({2, 3}, cpu()), Tensor<1, Int>::ones({2}, cpu()),
                               Tensor<1, Int>::ones({2}, cpu()));
              }),
              HasSubstr("rnnt_loss: f32[2, 4, 3, 3] and targets i64[2, 3] are not [n, t, u + 1, c] and [n, u]"));
}

}  // namespace
}  // namespace burn
