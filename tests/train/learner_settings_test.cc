// Settings of a training: its length, its metrics on each split, and values that are refused.
#include <chrono>
#include <cmath>

#include "tests/train/learner_fixture.h"

namespace burn {
namespace {

using test::expect_same;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LearnerSettings : public test::LearnerTest {};

TEST_F(LearnerSettings, MaxStepsEndsInTheMiddleOfAnEpochWithAValidation) {
  const auto result = training().max_steps(7).launch(learner());
  EXPECT_EQ(result.report.reason, train::StopReason::completed);
  EXPECT_EQ(result.report.steps, 7);
  ASSERT_EQ(result.report.history.size(), 2u);
  EXPECT_FALSE(std::isnan(result.report.history[1].valid[1]));
  EXPECT_TRUE(exists("epoch-1"));
  EXPECT_TRUE(exists("epoch-2-batch-2"));
  EXPECT_FALSE(exists("epoch-2"));
}

TEST_F(LearnerSettings, ATrainingThatEndedAtMaxStepsGoesOnAsIfItHadNot) {
  const auto whole = training().launch(learner());
  (void)training().max_steps(7).launch(learner());
  restart();
  expect_same(training().resume(train::latest).launch(learner()), whole);
}

TEST_F(LearnerSettings, MaxStepsAtTheEndOfAnEpochIsAWholeEpoch) {
  const auto result = training().max_steps(10).launch(learner());
  EXPECT_EQ(result.report.history.size(), 2u);
  EXPECT_TRUE(exists("epoch-2"));
  const auto again = training().max_steps(10).resume(train::latest).launch(learner());
  EXPECT_EQ(again.report.steps, 10);
  EXPECT_THAT(renderer->messages,
              Contains("nothing is left to train: max_steps is 10, and the checkpoint is of step 10"));
  EXPECT_EQ(again.report.history.size(), 2u);
}

TEST_F(LearnerSettings, MaxTimeEndsAfterTheStepUnderWay) {
  const auto result = training().epochs(1'000'000).max_time(std::chrono::milliseconds{50}).launch(learner());
  EXPECT_EQ(result.report.reason, train::StopReason::time_is_up);
  EXPECT_FALSE(result.report.history.empty());
}

TEST_F(LearnerSettings, ValidateEveryMeasuresWithinEpochsAndChangesNothing) {
  const auto plain = training().launch(learner());
  std::vector<double> seen;
  callback->on_validation = [&](train::Run& run) { seen.push_back(run.value(train::Split::valid, "Loss")); };
  const auto result = training().validate_every(2).launch(learner());
  expect_same(result, plain);
  std::vector<std::int64_t> steps;
  for (const auto& validation : result.report.validations) steps.push_back(validation.step);
  EXPECT_THAT(steps, ElementsAre(2, 4, 6, 8, 12, 14, 16, 18));  // not 10 and 20, where an epoch ends
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_EQ(result.report.validations[0].valid.at(1), seen[0]);
}

TEST_F(LearnerSettings, LimitBatchesMakesPassesShorter) {
  const auto result = training().limit_batches(2, 1).launch(learner());
  EXPECT_EQ(result.report.steps, 8);
  EXPECT_EQ(renderer->steps.back().total_items, 10);
  std::int64_t most = 0;
  for (const auto& step : renderer->steps) most = std::max(most, step.items);
  EXPECT_EQ(most, 20);
}

TEST_F(LearnerSettings, WithoutAValidationLoaderTheTrainingSplitIsWatched) {
  const auto train = test::tiny_loaders(device).train;
  auto described = train::SupervisedTraining(folder / "run", train)
                       .metrics(metric::Loss{})
                       .observe(test::synchronous_observer(renderer))
                       .seed(7)
                       .epochs(3);
  const auto result = described.launch(learner());
  ASSERT_EQ(result.report.history.size(), 3u);
  EXPECT_TRUE(result.report.history[0].valid.empty());
  EXPECT_EQ(result.report.best->by.split, train::Split::train);
  EXPECT_EQ(result.report.valid_metrics.size(), 0u);
  const auto more = described.epochs(4).resume(train::latest).launch(learner());
  EXPECT_EQ(more.report.history[2].train, result.report.history[2].train);
  EXPECT_THAT(launch_error(described.early_stopping({.metric = "Loss"})),
              HasSubstr("there is no validation loader, so nothing is measured on the split valid"));
}

TEST_F(LearnerSettings, MetricsMayDifferBetweenTheSplits) {
  auto described = training();
  described.metrics(metric::Loss{}).metric_valid(metric::Accuracy{});
  const auto result = described.epochs(2).launch(learner());
  EXPECT_THAT(result.report.metrics, ElementsAre("Loss"));
  EXPECT_THAT(result.report.valid_metrics, ElementsAre("Loss", "Accuracy"));
  EXPECT_EQ(result.report.history[0].train.size(), 1u);
  EXPECT_EQ(result.report.history[0].valid.size(), 2u);
  EXPECT_THAT(launch_error(described.early_stopping({.metric = "Accuracy", .split = train::Split::train})),
              HasSubstr("no metric \"Accuracy\" is measured on the split train; there are: Loss"));
  const auto more =
      described.early_stopping({.metric = "Accuracy", .patience = 9}).epochs(3).resume(train::latest).launch(learner());
  EXPECT_EQ(more.report.history.size(), 3u);
}

TEST_F(LearnerSettings, ADryRunTakesAStepThroughEverythingAndLeavesNothingBehind) {
  std::vector<std::string> written;
  callback->on_checkpoint = [&](train::Run&, const train::WrittenCheckpoint& one) { written.push_back(one.name); };
  const auto result = training().dry_run().launch(learner());
  EXPECT_EQ(result.report.steps, 2);
  EXPECT_THAT(written, ElementsAre("epoch-1", "epoch-2"));
  EXPECT_FALSE(std::filesystem::exists(folder / "run/dry-run"));
  EXPECT_FALSE(exists(""));
}

TEST_F(LearnerSettings, EarlyStoppingDoesNotStopWhileItIsWarmingUp) {
  const auto stopping = [&](std::int64_t warmup) {
    return training()
        .epochs(40)
        .early_stopping({.metric = "Accuracy", .patience = 1, .warmup = warmup})
        .launch(learner())
        .report.history.size();
  };
  EXPECT_LT(stopping(0), 20u);
  EXPECT_GE(stopping(20), 21u);
}

TEST_F(LearnerSettings, ARuleOfTheUserStopsATraining) {
  const auto rule = [](const std::vector<train::EpochResult>& history) -> std::string {
    return history.size() == 2 ? "two are enough" : "";
  };
  const auto result = training().stop_when(rule).launch(learner());
  EXPECT_EQ(result.report.reason, train::StopReason::stopped_early);
  EXPECT_EQ(result.report.history.size(), 2u);
  EXPECT_THAT(renderer->messages, Contains("two are enough"));
}

TEST_F(LearnerSettings, SaysWhereTheTimeWent) {
  const auto result = training().profile().launch(learner());
  EXPECT_GT(result.report.profile.total(), 0);
  EXPECT_GT(result.report.profile.of(train::Phase::recording), 0);
  EXPECT_THAT(renderer->messages, Contains(HasSubstr("where the time went: ")));
}

TEST_F(LearnerSettings, AFinishedTrainingThatIsResumedSaysThatNothingIsLeft) {
  (void)training().epochs(2).launch(learner());
  EXPECT_EQ(training().epochs(2).resume(train::latest).launch(learner()).report.steps, 10);
  EXPECT_THAT(renderer->messages,
              Contains("nothing is left to train: epochs is 2, and the checkpoint is of the end of epoch 2"));
}

TEST(Profile, AdvisesAboutWhatTakesTheMost) {
  const auto advice = [](double data, double recording, double device, double validation, double checkpoint,
                         double other) {
    return train::Profile{.seconds = {data, recording, device, validation, checkpoint, other}, .workers = 2, .cores = 8}
        .advice();
  };
  EXPECT_EQ(advice(38, 2, 60, 0, 0, 0), "38 % of the time waits for the loader: it has 2 workers on 8 cores");
  EXPECT_THAT(advice(14, 13, 8, 4, 61, 0), HasSubstr("61 % of the time goes into checkpoints"));
  EXPECT_THAT(advice(14, 60, 26, 0, 0, 0), HasSubstr("60 % of the time goes into recording the steps"));
  EXPECT_THAT(advice(14, 10, 16, 60, 0, 0), HasSubstr("60 % of the time goes into validation"));
  EXPECT_EQ(advice(1, 9, 90, 0, 0, 0), "the device is the limit: 90 % of the time waits for it");
  EXPECT_THAT(advice(0, 2, 1, 0, 0, 97), HasSubstr("97 % of the time goes into the start, the end and callbacks"));
}

TEST_F(LearnerSettings, TheBestEpochIsNotJudgedByWhatTheHostDoes) {
  const auto result = training()
                          .metrics(metric::LearningRate{}, metric::IterationSpeed{}, metric::Accuracy{})
                          .epochs(1)
                          .launch(learner());
  EXPECT_EQ(result.report.best->by.metric, "Accuracy");
}

TEST_F(LearnerSettings, LoadersWithoutABatchAreRefused) {
  auto builder = data::DataLoaderBuilder(test::PointBatcher{device}).batch_size(10).drop_last();
  const auto nine = builder.build(data::InMemDataset<test::Point>(test::points(9, 1)));
  const auto ten = builder.build(data::InMemDataset<test::Point>(test::points(10, 1)));
  EXPECT_THAT(launch_error(train::SupervisedTraining(folder / "run", nine, ten)),
              HasSubstr("the loader of the split train has no batch: its data set is empty, or has fewer items"));
  EXPECT_THAT(launch_error(train::SupervisedTraining(folder / "run", ten, nine)),
              HasSubstr("the loader of the split valid has no batch"));
}

TEST_F(LearnerSettings, ThatMakeNoSenseAreErrorsThatNameThem) {
  EXPECT_EQ(launch_error(training().max_steps(0)), "max_steps: 0, must be 1 or more");
  EXPECT_EQ(launch_error(training().validate_every(0)), "validate_every: 0, must be 1 or more");
  EXPECT_EQ(launch_error(training().limit_batches(0)), "limit_batches of training: 0, must be 1 or more");
  EXPECT_EQ(launch_error(training().grads_accumulation(0)), "grads_accumulation: 0, must be 1 or more");
  EXPECT_THAT(launch_error(training().clip_norm(-1)), HasSubstr("clip_norm: -1"));
  EXPECT_THAT(launch_error(training().max_time(std::chrono::seconds{0})), HasSubstr("max_time in seconds: 0"));
  EXPECT_THAT(launch_error(training().checkpoints(train::EverySteps{0})), HasSubstr("EverySteps 0, must be positive"));
  EXPECT_THAT(launch_error(training().checkpoints(train::EveryTime{std::chrono::seconds{-1}})),
              HasSubstr("EveryTime -1"));
  EXPECT_THAT(launch_error(training().metrics(metric::Loss{}, metric::Loss{})),
              HasSubstr("two have the name \"Loss\""));
  EXPECT_THAT(launch_error(training().early_stopping({.metric = "Nonsense"})), HasSubstr("no metric \"Nonsense\""));
  EXPECT_THAT(launch_error(training().early_stopping({.patience = 1, .warmup = -1})), HasSubstr("warmup is -1"));
  EXPECT_THAT(test::error_of([&] { (void)training().ema({.decay = 1.5}); }), HasSubstr("decay is 1.5"));
  EXPECT_THAT(launch_error(training().metrics(metric::CpuUse{}, metric::ConfusionMatrix{})),
              HasSubstr("no metric is a number of the model"));
  EXPECT_THAT(launch_error(training().dashboard("over there")), HasSubstr("\"over there\" is no address"));
}

}  // namespace
}  // namespace burn
