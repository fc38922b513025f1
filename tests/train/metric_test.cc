// Metrics without references: their inputs, how their numbers reach the client, and how they continue after a resume.
#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/error_of.h"
#include "train/metric/metric_set.h"
#include "train/metric/metrics.h"

namespace burn::metric {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename M>
MetricFactory make(M metric) {
  return [metric] { return std::make_unique<M>(metric); };
}

class Metrics : public ::testing::Test {
 protected:
  Device device{"cpu"};

  StepOutput classes(const std::vector<float>& scores, const std::vector<std::int64_t>& targets) {
    const auto rows = static_cast<std::int64_t>(targets.size());
    const auto columns = static_cast<std::int64_t>(scores.size()) / std::max<std::int64_t>(rows, 1);
    const auto output = Tensor<2>::from_data(TensorData(scores, {rows, columns}), device);
    const auto wanted = Tensor<1, Int>::from_data(TensorData(targets, {rows}), device);
    return {Tensor<1>::ones({1}, device).value(), output.value(), wanted.value(), rows};
  }
  // `rows` random rows of `columns` scores and their targets.
  StepOutput random_classes(std::int64_t rows, std::int64_t columns) {
    const auto output = Tensor<2>::random({rows, columns}, Distribution::uniform(0, 1), device);
    const auto targets = Tensor<2>::random({rows, columns}, Distribution::uniform(0, 1), device).argmax(1);
    return {Tensor<1>::ones({1}, device).value(), output.value(), targets.squeeze_dim<1>(1).value(), rows};
  }
  static void measure(MetricSet& metrics, const StepOutput& output) {
    metrics.push(metrics.measure(output), output.items);
    metrics.take(0);
  }
};

// Stores every tensor of a batch, of any dtype and shape.
struct Everything : Metric {
  std::string name() const override { return "Everything"; }
  bool higher_is_better() const override { return true; }
  Measured record(const StepOutput& output) const override {
    std::vector<client::Value> tensors;
    for (const auto& [name, value] : output.others) tensors.push_back(value);
    return Measured{std::move(tensors)};
  }
  void take(const MeasuredBatch& batch) override { taken->assign(batch.tensors.begin(), batch.tensors.end()); }
  double value() const override { return 0; }
  void reset() override {}
  std::vector<double> state() const override { return {}; }
  void load_state(std::span<const double>) override {}

  std::shared_ptr<std::vector<TensorData>> taken = std::make_shared<std::vector<TensorData>>();
};

TEST_F(Metrics, GetTensorsOfEveryKindAndShapeAsTheyWere) {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min(),
                 kHighest = std::numeric_limits<std::int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<TensorData> all{
      TensorData(std::vector<std::int64_t>{kLowest, kHighest, -1, 0, 1, -16777217, 16777217, 1LL << 52}, {2, 4}),
      TensorData(std::vector<std::uint64_t>{0, ~std::uint64_t{0}, 1ULL << 63}, {3}),
      TensorData(std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), 2147483647, -5, 16777217}, {4, 1}),
      TensorData(std::vector<std::uint32_t>{4294967295u, 7, 16777217}, {3}),
      TensorData(std::vector<std::int8_t>{-128, 127}, {2}),
      TensorData(std::vector<std::uint16_t>{65535}, {1}),
      TensorData(std::vector<double>{1.0 / 3, -1e-30, 123456789.123456789, kInfinity, -kInfinity, 0}, {6}),
      TensorData(std::vector<float>{1.5f, -0.1f, 3e38f}, {1, 1, 3}),
      TensorData(std::vector<Half>{Half{0.1f}, Half{-3.0f}}, {2}),
      TensorData(std::vector<bool>{true, false, true}, {3}),
      TensorData(std::vector<float>{}, {0, 3})};
  const Everything everything;
  MetricSet metrics{{make(everything)}};
  // The batches have different tensors, so nothing can be assumed from an earlier one.
  for (const std::size_t count : {std::size_t{1}, all.size(), std::size_t{3}}) {
    StepOutput output{.loss = Tensor<1>::ones({1}, device).value(), .items = 1};
    for (std::size_t i = all.size() - count; i < all.size(); ++i)
      output.others.emplace_back(std::to_string(i), client::from_data(all[i], device, all[i].dtype()));
    measure(metrics, output);
    ASSERT_EQ(everything.taken->size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ((*everything.taken)[i], all[all.size() - count + i]) << i;
  }
}

TEST_F(Metrics, NeedNothingOfABatchOnTheDeviceToBeToldOfIt) {
  MetricSet metrics{{make(LearningRate{})}};
  metrics.push(metrics.measure(random_classes(8, 3)), 8, 1, 0.25);
  metrics.take(0);
  EXPECT_EQ(metrics.items(), 8);
  EXPECT_EQ(metrics.values()[0], 0.25);
  EXPECT_EQ(metrics.metrics()[0]->text(), "2.50e-01");
}

TEST_F(Metrics, OfTenClassesAreReadAsAFewNumbersWhateverTheBatch) {
  MetricSet metrics{{make(Loss{}), make(Accuracy{}), make(TopKAccuracy{3}), make(Precision::multiclass()),
                     make(Recall::multiclass()), make(FBetaScore::multiclass()), make(ConfusionMatrix{}),
                     make(Perplexity{}), make(Auroc::multiclass().with_thresholds(32))}};
  for (const std::int64_t rows : {16, 5000}) {
    const auto packed = metrics.measure(random_classes(rows, 10));
    EXPECT_LE(packed.numbers.type().num_bytes(), 4096u) << rows;
  }
}

TEST_F(Metrics, SayWhatTheStepDoesNotGive) {
  const auto message = [&](const MetricFactory& metric, const StepOutput& output) {
    MetricSet metrics{{metric}};
    return test::error_of([&] { (void)metrics.measure(output); });
  };
  const StepOutput loss{.loss = Tensor<1>::ones({1}, device).value(), .items = 1};
  EXPECT_EQ(
      message(make(Precision::multiclass()), loss),
      "metric Precision @ TopK(1) [Macro]: needs \"output\" of floats of rank 2 or 3; the step gives loss f32[1]");
  EXPECT_THAT(message(make(BleuScore{}), random_classes(4, 3)),
              AllOf(HasSubstr("metric BLEU-4: needs \"targets\" of integers of rank 2"),
                    HasSubstr("output f32[4, 3], targets i64[4]")));
  EXPECT_THAT(message(make(CumulativeReward{}), loss), HasSubstr("needs \"cumulative_reward\""));
  EXPECT_THAT(message(make(Auroc::multilabel()), random_classes(4, 3)), HasSubstr("targets"));
  EXPECT_THAT(message(make(TopKAccuracy{4}), random_classes(4, 3)), HasSubstr("top_k is 4"));
  EXPECT_THAT(message(make(Ssim{}), random_classes(4, 3)), HasSubstr("of floats of rank 4"));
  auto unlike = random_classes(4, 3);
  unlike.targets = random_classes(5, 3).targets;
  EXPECT_THAT(message(make(Recall::multiclass()), unlike), AllOf(HasSubstr("f32[4, 3]"), HasSubstr("i64[5]")));
}

// A wrong metric: measure() returns a number for each item instead of their mean.
struct Forgetful : MeanMetric {
  std::string name() const override { return "Forgetful"; }
  bool higher_is_better() const override { return true; }
  Tensor<1> measure(const StepOutput& output) const override { return output.get<1>("reward"); }
};

TEST_F(Metrics, OfOneMeanRefuseOtherNumbersOfNumbers) {
  MetricSet metrics{{make(Forgetful{})}};
  const auto step = [&](std::int64_t rewards, const char* name) {
    return StepOutput{.loss = Tensor<1>::ones({1}, device).value(), .items = 3}.with(
        name, Tensor<1>::full({rewards}, 2, device));
  };
  const auto message = [&](const StepOutput& output) { return test::error_of([&] { (void)metrics.measure(output); }); };
  EXPECT_EQ(message(step(3, "reward")),
            "metric Forgetful: measure() gave f32[3], must give one number for a batch: their mean");
  EXPECT_EQ(message(step(1, "rewards")),
            "metric Forgetful: needs \"reward\"; the step gives loss f32[1], rewards f32[1]");
  measure(metrics, step(1, "reward"));
  EXPECT_EQ(metrics.values(), (std::vector<double>{2}));
}

TEST(MetricSets, HaveOneMetricOfAName) {
  EXPECT_EQ(test::error_of([] {
              MetricSet{{make(Loss{}), make(Accuracy{}), make(Accuracy{}.with_pad_token(0))}};
            }),
            "metrics: two have the name \"Accuracy\"; a name stands for one metric of a split");
  MetricSet{{make(TopKAccuracy{2}), make(TopKAccuracy{3})}};
}

TEST(MetricSettings, ThatCannotBeAreErrors) {
  EXPECT_THROW(TopKAccuracy{0}, Error);
  EXPECT_THROW((void)Precision::multiclass(0), Error);
  EXPECT_THROW((void)FBetaScore::binary(0), Error);
  EXPECT_THROW(BleuScore{0}, Error);
  EXPECT_THROW((void)Auroc{}.with_thresholds(1), Error);
  EXPECT_THROW(Psnr{0}, Error);
  EXPECT_THROW((Ssim{Ssim::Config{.window_size = 10}}), Error);
  MsSsim::Config none;
  none.betas.clear();
  EXPECT_THROW(MsSsim{none}, Error);
}

TEST_F(Metrics, OfAnEpochGoOnFromTheirState) {
  const std::vector<MetricFactory> factories{make(Accuracy{}),
                                             make(TopKAccuracy{2}),
                                             make(Precision::multiclass()),
                                             make(Auroc::multiclass()),
                                             make(ConfusionMatrix{}),
                                             make(Perplexity{}),
                                             make(AucPr::multiclass().with_thresholds(10))};
  MetricSet whole{factories}, first{factories}, second{factories};
  const auto a = random_classes(30, 4), b = random_classes(17, 4);
  measure(whole, a);
  measure(whole, b);
  measure(first, a);
  second.load_state(first.state(), first.items());
  measure(second, b);
  for (std::size_t i = 0; i < factories.size(); ++i)
    EXPECT_EQ(second.metrics()[i]->text(), whole.metrics()[i]->text()) << whole.metrics()[i]->name();
  EXPECT_EQ(second.items(), 47);
  EXPECT_THROW(Auroc{}.load_state(std::array{3.0, 1.0}), Error);
  EXPECT_THROW(TopKAccuracy{}.load_state(std::array{3.0}), Error);
  EXPECT_THROW(ConfusionMatrix{}.load_state(std::array{3.0, 1.0}), Error);
}

TEST_F(Metrics, RefuseABatchOfAnotherNumberOfClasses) {
  MetricSet metrics{{make(Precision::multiclass())}};
  measure(metrics, random_classes(4, 3));
  EXPECT_THAT(test::error_of([&] { measure(metrics, random_classes(4, 5)); }),
              HasSubstr("15 counts after batches of 9"));
}

TEST_F(Metrics, WithThresholdsAreAsNearToTheExactOnesAsTheySay) {
  double roc_before = 101, pr_before = 101;  // %, above any error
  for (const std::int64_t thresholds : {4, 64, 1024}) {
    const auto roc = Auroc::multiclass().with_thresholds(thresholds);
    const auto pr = AucPr::multiclass(ClassReduction::micro).with_thresholds(thresholds);
    MetricSet binned{{make(roc), make(pr)}};
    MetricSet exact{{make(Auroc::multiclass()), make(AucPr::multiclass(ClassReduction::micro))}};
    for (const auto rows : {200, 57}) {
      const auto batch = random_classes(rows, 3);
      measure(binned, batch);
      measure(exact, batch);
    }
    const auto& found = static_cast<const CurveMetric&>(*binned.metrics()[0]);
    EXPECT_LE(std::abs(found.value() - exact.values()[0]), found.error() + 1e-9) << thresholds;
    EXPECT_LT(found.error(), roc_before) << thresholds;
    roc_before = found.error();
    const auto& average = static_cast<const CurveMetric&>(*binned.metrics()[1]);
    EXPECT_LE(std::abs(average.value() - exact.values()[1]), average.error() + 1e-9) << thresholds;
    EXPECT_LT(average.error(), pr_before) << thresholds;
    pr_before = average.error();
  }
}

TEST_F(Metrics, DoNotCountPadding) {
  constexpr std::int64_t kPad = 2;
  const auto output = classes({0.9f, 0.1f, 0, 0.2f, 0.8f, 0, 0.4f, 0.6f, 0, 0, 0, 1}, {0, 1, 0, kPad});
  MetricSet metrics{{make(Accuracy{}.with_pad_token(kPad)), make(TopKAccuracy{1}.with_pad_token(kPad)),
                     make(Perplexity{}.with_pad_token(kPad))}};
  measure(metrics, output);
  EXPECT_NEAR(metrics.values()[0], 100.0 * 2 / 3, 1e-9);
  EXPECT_NEAR(metrics.values()[1], 100.0 * 2 / 3, 1e-9);
  double logs = 0;
  for (const auto& [right, other] : {std::pair{0.9, 0.1}, {0.8, 0.2}, {0.4, 0.6}})
    logs += right - std::log(std::exp(right) + std::exp(other) + 1);
  EXPECT_NEAR(metrics.values()[2], std::exp(-logs / 3), 1e-5);
}

TEST_F(Metrics, OfSequencesTakeTheTokensOfTheHighestScores) {
  // Two sequences of two tokens, from a vocabulary of three.
  const std::vector<float> scores{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0};
  const auto output = Tensor<3>::from_data(TensorData(scores, {2, 2, 3}), device);
  const auto targets = Tensor<2, Int>::from_data({{0, 1}, {2, 2}}, device);
  const StepOutput step{Tensor<1>::ones({1}, device).value(), output.value(), targets.value(), 2};
  MetricSet metrics{{make(CharErrorRate{}), make(Accuracy{})}};
  measure(metrics, step);
  EXPECT_EQ(metrics.values()[0], 25);
  EXPECT_EQ(metrics.values()[1], 75);
  const auto chosen = Tensor<2, Int>::from_data({{0, 1, 1}, {2, 2, 1}}, device);  // longer than the targets
  MetricSet of_predictions{{make(WordErrorRate{})}};
  measure(of_predictions, StepOutput{step}.with("predictions", chosen));
  EXPECT_EQ(of_predictions.values()[0], 50);
}

TEST_F(Metrics, OfMasksTakeScoresAndClassesOfPixels) {
  const auto targets = Tensor<3, Int>::from_data({{{0, 1}, {1, 2}}}, device);
  const auto answers = Tensor<3, Int>::from_data({{{0, 1}, {2, 2}}}, device);
  const auto scores = answers.one_hot<4>(3).permute({0, 3, 1, 2}).to_float();
  MetricSet metrics{{make(Dice{})}};
  measure(metrics, {Tensor<1>::ones({1}, device).value(), scores.value(), targets.value(), 1});
  EXPECT_NEAR(metrics.values()[0], 2.0 * 2 / (3 + 3), 1e-6);
}

TEST_F(Metrics, WriteAConfusionMatrixAsATable) {
  const auto matrix = ConfusionMatrix{}.with_classes({"cat", "dog"});
  EXPECT_EQ(matrix.text(), "no items");
  MetricSet metrics{{make(matrix), make(Loss{})}};
  measure(metrics, classes({0.9f, 0.1f, 0.2f, 0.8f, 0.4f, 0.6f, 0.3f, 0.7f}, {0, 1, 0, 1}));
  EXPECT_EQ(metrics.metrics()[0]->text(),
            "actual \\ answered      cat     dog   recall\n"
            "cat                      1       1   50.0 %\n"
            "dog                      0       2  100.0 %\n"
            "precision          100.0 %  66.7 %");
  EXPECT_TRUE(std::isnan(metrics.values()[0]));
}

TEST_F(Metrics, CountEpisodesOfStepsAndOfTheHost) {
  MetricSet metrics{{make(CumulativeReward{}), make(EpisodeLength{})}};
  const StepOutput loss{.loss = Tensor<1>::ones({1}, device).value(), .items = 4};
  const auto none = Tensor<1>::from_data(TensorData(std::vector<float>{}, {0}), device);
  measure(metrics, StepOutput{loss}.with("cumulative_reward", none).with("episode_length", none));
  EXPECT_TRUE(std::isnan(metrics.values()[0]));
  const auto rewards = Tensor<1>::from_floats({10, 20}, device);
  const auto lengths = Tensor<1, Int>::from_data({7, 8}, device);
  measure(metrics, StepOutput{loss}.with("cumulative_reward", rewards).with("episode_length", lengths));
  EXPECT_EQ(metrics.values()[0], 15);
  EXPECT_EQ(metrics.values()[1], 7.5);
  ExplorationRate rate;
  rate.add_number(0.5);
  rate.add_number(0.25);
  EXPECT_EQ(rate.value(), 0.375);
}

}  // namespace
}  // namespace burn::metric
