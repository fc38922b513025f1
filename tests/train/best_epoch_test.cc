// The best epoch of a training is always kept; and trainings that are resumed after their last epoch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"
#include "train/checkpoint/checkpoint.h"

namespace burn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A metric with a given value for each epoch; smaller is better.
struct ScriptedMetric : metric::MeanMetric {
  ScriptedMetric(std::vector<double> values, std::shared_ptr<std::int64_t> epoch)
      : values(std::move(values)), epoch(std::move(epoch)) {}

  std::string name() const override { return "Script"; }
  bool higher_is_better() const override { return false; }
  Tensor<1> measure(const train::StepOutput& output) const override { return Tensor<1>{output.loss}; }
  double value() const override { return values.at(static_cast<std::size_t>(std::max<std::int64_t>(*epoch, 1) - 1)); }

  std::vector<double> values;
  std::shared_ptr<std::int64_t> epoch;  // the current one
};

// Sets the current epoch for ScriptedMetric; asks for a stop in epoch `stop_in`.
struct EpochTracker : test::RecordingRenderer {
  std::shared_ptr<std::int64_t> current = std::make_shared<std::int64_t>(0);
  train::Interrupter interrupter;
  std::int64_t stop_in = 0;

  void progress(const train::Progress& progress) override {
    RecordingRenderer::progress(progress);
    *current = progress.epoch;
    if (progress.epoch == stop_in) interrupter.stop("enough");
  }
};

class BestEpoch : public ::testing::Test {
 protected:
  test::TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<EpochTracker> tracker;

  // The metric is best in epoch 2.
  auto training(const char* where = "run") {
    const std::vector<double> script{3, 1, 2, 1, 2, 3, 4, 5, 6, 7};
    device = Device::new_session("cpu");
    tracker = std::make_shared<EpochTracker>();
    const auto [train, valid] = test::tiny_loaders(device);
    return train::SupervisedTraining(folder / where, train, valid)
        .metrics(metric::Loss{}, ScriptedMetric{script, tracker->current})
        .renderer(std::make_shared<train::SilentRenderer>())
        .observe(test::synchronous_observer(tracker))
        .interrupter(tracker->interrupter)
        .seed(7)
        .epochs(10);
  }
  train::EarlyStopping rule(std::int64_t patience = 4) { return {.metric = "Script", .patience = patience}; }
  train::Learner<test::TinyNet> learner() {
    device.seed(1);
    return {test::TinyNet::init(device.autodiff()), optim::AdamConfig{}, lr::Cosine{.initial = 0.05, .steps = 50}};
  }
  std::vector<std::int64_t> epochs_on_disk() { return train::CheckpointStore(folder / "run").epochs(); }
  // The model's record after that many epochs of a separate training.
  Record model_after(std::int64_t epochs) {
    return training("other").epochs(epochs).launch(learner()).model.into_record();
  }
};

void expect_same(const Record& a, const Record& b) {
  for (const auto& [name, data] : a) EXPECT_EQ(data, b.get(name)) << name;
}

TEST_F(BestEpoch, IsGivenBackByEarlyStoppingWhateverIsKept) {
  const Record expected = model_after(2);
  using train::KeepAll, train::KeepBest, train::KeepLast;
  for (const auto& strategies :
       std::vector<std::optional<std::vector<train::CheckpointStrategy>>>{std::vector<train::CheckpointStrategy>{},
                                                                          {{KeepLast{1}}},
                                                                          {{KeepLast{2}}},
                                                                          {{KeepAll{}}},
                                                                          {{KeepBest{.metric = "Loss"}}},
                                                                          std::nullopt}) {
    auto described = training().early_stopping(rule());
    if (strategies) {
      described.checkpoints();
      for (const auto& strategy : *strategies) described.checkpoints(strategy);
    } else {
      described.checkpoints(std::nullopt);
    }
    const auto result = described.launch(learner());
    EXPECT_EQ(result.report.reason, train::StopReason::stopped_early);
    EXPECT_EQ(result.report.history.size(), 6u);
    const auto best = result.best();
    EXPECT_EQ(best.epoch, 2);
    EXPECT_EQ(best.value, 1);
    expect_same(best.model.into_record(), expected);
  }
}

TEST_F(BestEpoch, StaysOnDiskBesideTheLastOnes) {
  (void)training().checkpoints(train::KeepLast{2}).early_stopping(rule()).launch(learner());
  EXPECT_THAT(epochs_on_disk(), ElementsAre(2, 5, 6));
  (void)training().checkpoints(train::KeepLast{1}, train::KeepBest{.metric = "Script"}).launch(learner());
  EXPECT_THAT(epochs_on_disk(), ElementsAre(2, 10));
}

TEST_F(BestEpoch, IsTheLastWhereThatIsTheBest) {
  const auto result = training().epochs(2).checkpoints(train::KeepBest{.metric = "Script"}).launch(learner());
  EXPECT_EQ(result.best().epoch, 2);
  expect_same(result.best().model.into_record(), result.model.into_record());
}

TEST_F(BestEpoch, ThatWasNotKeptIsAnErrorThatNamesIt) {
  const auto message = [](const auto& result) -> std::string {
    try {
      (void)result.best();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  auto described = training();
  described.metrics(ScriptedMetric{{3, 1, 2, 4, 4}, tracker->current}).epochs(5);
  EXPECT_THAT(message(described.checkpoints(train::KeepLast{2}).launch(learner())),
              HasSubstr("no checkpoint of epoch 2"));
  EXPECT_THAT(message(described.checkpoints(std::nullopt).launch(learner())),
              HasSubstr("the model of epoch 2, the best one, was not kept"));
  tracker->interrupter.stop("at once");
  EXPECT_EQ(message(described.launch(learner())), "the best epoch: none is over");
}

TEST_F(BestEpoch, AMetricThatIsNotMeasuredIsAnErrorBeforeAnythingIsTrained) {
  EXPECT_THROW((void)training().checkpoints(train::KeepBest{.metric = "Accuracy"}).launch(learner()), Error);
  EXPECT_TRUE(tracker->steps.empty());
}

TEST_F(BestEpoch, OfAResumedTrainingMayLieBeforeTheStop) {
  const Record expected = model_after(2);
  (void)training().epochs(4).checkpoints(train::KeepLast{1}).early_stopping(rule()).launch(learner());
  auto resumed = training().checkpoints(train::KeepLast{1}).early_stopping(rule()).resume(train::latest);
  const auto result = resumed.launch(learner());
  EXPECT_EQ(result.report.history.size(), 6u);
  EXPECT_EQ(result.best().epoch, 2);
  expect_same(result.best().model.into_record(), expected);
}

TEST_F(BestEpoch, OfAnInterruptedTrainingIsThere) {
  auto described = training().early_stopping(rule());
  tracker->stop_in = 4;
  const auto result = described.launch(learner());
  EXPECT_TRUE(result.interrupted());
  EXPECT_EQ(result.best().epoch, 2);
}

TEST_F(BestEpoch, OfATrainingThatStoppedEarlyIsThereWhenItIsResumedAndNothingIsTrained) {
  const auto first = training().early_stopping(rule()).launch(learner());
  const auto log = test::TempFolder::read(folder / "run/metrics.jsonl");
  for (const bool by_number : {false, true}) {
    auto described = training().early_stopping(rule());
    if (by_number)
      described.resume(6);
    else
      described.resume(train::latest);
    const auto again = described.launch(learner());
    EXPECT_EQ(again.report.reason, train::StopReason::stopped_early);
    EXPECT_TRUE(tracker->steps.empty());
    EXPECT_THAT(tracker->messages, ElementsAre(HasSubstr("early stopping: valid Script")));
    EXPECT_EQ(again.report.history.size(), 6u);
    expect_same(again.model.into_record(), first.model.into_record());
    expect_same(again.best().model.into_record(), first.best().model.into_record());
    EXPECT_THAT(epochs_on_disk(), ElementsAre(2, 5, 6));
    EXPECT_EQ(test::TempFolder::read(folder / "run/metrics.jsonl"), log);
  }
}

TEST_F(BestEpoch, ATrainingThatStoppedEarlyGoesOnWhenItIsAskedTo) {
  const auto whole = training("other").launch(learner());
  (void)training().early_stopping(rule(2)).launch(learner());
  EXPECT_EQ(epochs_on_disk().back(), 4);
  const auto patient = training().early_stopping(rule(4)).resume(train::latest).launch(learner());
  EXPECT_EQ(patient.report.history.size(), 6u);
  const auto through = training().resume(train::latest).launch(learner());
  EXPECT_EQ(through.report.reason, train::StopReason::completed);
  EXPECT_EQ(through.report.history.size(), 10u);
  expect_same(through.model.into_record(), whole.model.into_record());
}

TEST_F(BestEpoch, AFinishedTrainingThatIsResumedTrainsNothingAndLosesNothing) {
  const auto first = training().epochs(4).checkpoints(train::KeepAll{}).launch(learner());
  const auto log = test::TempFolder::read(folder / "run/metrics.jsonl");
  const auto again = training().epochs(4).checkpoints(train::KeepAll{}).resume(train::latest).launch(learner());
  EXPECT_EQ(again.report.reason, train::StopReason::completed);
  expect_same(again.model.into_record(), first.model.into_record());
  (void)training().epochs(2).resume(2).launch(learner());  // only loads epoch 2
  EXPECT_TRUE(tracker->steps.empty());
  EXPECT_THAT(epochs_on_disk(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(test::TempFolder::read(folder / "run/metrics.jsonl"), log);
  const auto more = training().epochs(5).checkpoints(train::KeepAll{}).resume(train::latest).launch(learner());
  EXPECT_EQ(more.report.history.size(), 5u);
  // Training on from an earlier epoch removes the later ones.
  (void)training().epochs(3).checkpoints(train::KeepAll{}).resume(2).launch(learner());
  EXPECT_THAT(epochs_on_disk(), ElementsAre(1, 2, 3));
}

TEST_F(BestEpoch, InterruptedWithinTheLastEpochsOfItsPatienceATrainingStopsWhereItWouldHave) {
  const auto whole = training("other").early_stopping(rule()).launch(learner());
  auto described = training().early_stopping(rule());
  tracker->stop_in = 5;
  EXPECT_TRUE(described.launch(learner()).interrupted());
  const auto resumed = training().early_stopping(rule()).resume(train::latest).launch(learner());
  EXPECT_EQ(resumed.report.reason, train::StopReason::stopped_early);
  EXPECT_EQ(resumed.report.history.size(), whole.report.history.size());
  expect_same(resumed.model.into_record(), whole.model.into_record());
  EXPECT_EQ(resumed.best().epoch, whole.best().epoch);
}

}  // namespace
}  // namespace burn
