// Losses for classes, multiple labels and rare classes, against the numbers of PyTorch 1.13 in f64 for the
// logits {{1, 2, 3}, {0.5, -1, 0}, {-2, 0, 1}}.
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using test::ad;
using test::cpu;
using test::error_of;
using test::expect_near;

Tensor<2> logits(const Device& device) { return Tensor<2>::from_data({{1, 2, 3}, {0.5f, -1, 0}, {-2, 0, 1}}, device); }
Tensor<1, Int> classes(const std::vector<std::int64_t>& ids) {
  return Tensor<1, Int>::from_data(TensorData(ids, {static_cast<std::int64_t>(ids.size())}), cpu());
}
Tensor<2> several() { return Tensor<2>::from_data({{1, 0, 1}, {0, 1, 0}, {0, 0, 1}}, cpu()); }
const std::vector<double> kWeights{1, 2, 5};

TEST(NllLoss, IsPyTorchsOfLogProbabilities) {
  const auto x = activation::log_softmax(logits(cpu()), 1);
  expect_near(nn::NllLoss{}(x, classes({2, 0, 1})), {0.7869162621830985});
  expect_near(nn::NllLoss{}(x, classes({2, -100, 1})), {0.8783090906062835});
  const auto weighted = nn::NllLossConfig{.weights = kWeights}.init(cpu());
  expect_near(weighted(x, classes({2, 0, 1})), {0.6675231076368755});
  expect_near(weighted(x, classes({2, -100, 1}), nn::Reduction::sum), {4.736054255758275}, 1e-5);
  expect_near(weighted.forward_no_reduction(x, classes({2, -100, 1})), {2.038029822, 0, 2.698024434});
  expect_near(nn::NllLossConfig{.ignored_target = 0}.init(cpu())(x, classes({0, 0, 0})), {0});
}

TEST(NllLoss, RefusesWhatDoesNotFit) {
  const auto x = logits(cpu());
  EXPECT_EQ(error_of([&] { (void)nn::NllLoss{}(x, classes({0})); }),
            "nll_loss: input f32[3, 3] and target i64[1] have different batch sizes");
  EXPECT_EQ(error_of([&] {
              (void)nn::NllLossConfig{.weights = {{1, 2}}}.init(cpu())(x, classes({0, 1, 2}));
            }),
            "nll_loss: 2 weights for 3 classes of f32[3, 3]");
  EXPECT_NE(error_of([&] { (void)nn::NllLoss{}(x, classes({0, 1, 3})).item(); }), "");
}

TEST(MultiLabelMarginLoss, IsPyTorchsAndEndsAtTheFirstNegativeTarget) {
  const auto targets = Tensor<2, Int>::from_data({{0, 2, -1}, {1, -1, 2}, {-1, 0, 1}}, cpu());
  expect_near(nn::MultiLabelMarginLoss{}(logits(cpu()), targets), {0.7222222222222222});
  expect_near(nn::MultiLabelMarginLoss{}.forward_no_reduction(logits(cpu()), targets), {0.666666667, 1.5, 0});
  const auto x = logits(ad()).require_grad();
  const auto on_tape = Tensor<2, Int>::from_data({{0, 2, -1}, {1, -1, 2}, {-1, 0, 1}}, ad());
  const auto gradients = nn::MultiLabelMarginLoss{}(x, on_tape).backward();
  expect_near(*x.grad(gradients), {-0.111111111, 0.111111111, 0, 0.111111111, -0.222222222, 0.111111111, 0, 0, 0});
}

TEST(MultiLabelSoftMarginLoss, IsPyTorchs) {
  expect_near(nn::MultiLabelSoftMarginLoss{}(logits(cpu()), several()), {0.7336221979460392});
  const auto weighted = nn::MultiLabelSoftMarginLossConfig{.weights = kWeights}.init(cpu());
  expect_near(weighted.forward_no_reduction(logits(cpu()), several()), {1.603351489, 2.355445421, 1.026510270});
  EXPECT_EQ(error_of([&] {
              (void)nn::MultiLabelSoftMarginLossConfig{.weights = {{1, 2}}}.init(cpu())(logits(cpu()), several());
            }),
            "multi_label_soft_margin_loss: 2 weights for 3 classes of f32[3, 3]");
}

TEST(FocalLoss, IsTorchvisions) {
  expect_near(nn::FocalLoss{}(logits(cpu()), several()), {0.21874706949835865});
  expect_near(nn::FocalLoss{.alpha = -1, .gamma = 1.5}(logits(cpu()), several(), nn::Reduction::sum),
              {3.6406753876899174});
  EXPECT_EQ(error_of([] { (void)nn::FocalLossConfig{.gamma = -1}.init(); }),
            "FocalLossConfig: gamma is -1.000000, must not be negative");
}

TEST(DiceLoss, IsOneForEachSampleOverAllOtherDims) {
  expect_near(nn::DiceLoss{}.forward_no_reduction(logits(cpu()), several()), {0.215145921, 0.546534617, 0.265097021});
  expect_near(nn::DiceLoss{.squared = true}(logits(cpu()), several()), {0.2385675418838237});
  const auto probabilities = logits(cpu()).sigmoid().reshape<3>({3, 3, 1});
  expect_near(nn::DiceLoss{.logits = false}(probabilities, several().reshape<3>({3, 3, 1})),
              {(0.215145921 + 0.546534617 + 0.265097021) / 3});
  EXPECT_EQ(error_of([&] { (void)nn::DiceLoss{}(logits(cpu()), several().slice({s(0, 2)})); }),
            "dice_loss: predictions f32[3, 3] and targets f32[2, 3] differ in shape");
}

}  // namespace
}  // namespace burn
