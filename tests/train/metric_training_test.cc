// Metrics within trainings: what is shown of them, stored in checkpoints, and refused.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Asks for a stop once `items` items of the second epoch are done.
struct Stopping : test::RecordingRenderer {
  train::Interrupter interrupter;
  std::int64_t items = 1000;
  void progress(const train::Progress& progress) override {
    RecordingRenderer::progress(progress);
    if (progress.epoch == 2 && progress.split == Split::train && progress.items >= items) interrupter.stop("enough");
  }
};

class MetricTraining : public ::testing::Test {
 protected:
  test::TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<Stopping> renderer = std::make_shared<Stopping>();

  auto training() {
    const auto [train, valid] = test::tiny_loaders(device);
    auto training = train::SupervisedTraining(folder / "run", train, valid);
    training
        .metrics(metric::ConfusionMatrix{}, metric::Auroc::multiclass(), metric::FBetaScore::multiclass(),
                 metric::Perplexity{}, metric::LearningRate{})
        .observe(test::synchronous_observer(renderer))
        .renderer(std::make_shared<train::SilentRenderer>())
        .interrupter(renderer->interrupter)
        .seed(7)
        .epochs(3);
    return training;
  }
  auto launch(const auto& training) {
    device.seed(1);
    return training.launch(train::Learner(test::TinyNet::init(device.autodiff()), optim::AdamConfig{},
                                          lr::Cosine{.initial = 0.05, .steps = 20}));
  }
  std::string error_of(const auto& training) {
    return test::error_of([&] { (void)launch(training); });
  }
};

TEST_F(MetricTraining, TellsTextsAtTheEndOfAnEpochAndNumbersAllTheTime) {
  const auto result = launch(training());
  ASSERT_EQ(result.report.history.size(), 3u);
  EXPECT_THAT(renderer->messages, Contains(StartsWith("train Confusion Matrix:\nactual \\ answered")));
  EXPECT_THAT(renderer->messages, Contains(StartsWith("valid Confusion Matrix:\n")));
  for (const auto& step : renderer->steps) {
    for (const auto& value : step.values) EXPECT_NE(value.label, "confusion");
  }
  const auto& last = result.report.history.back().valid;
  EXPECT_TRUE(std::isnan(last[0]));
  EXPECT_GT(last[1], 70);  // AUROC
  EXPECT_GT(last[2], 60);  // F1
  EXPECT_THAT(test::TempFolder::read(folder / "run/metrics.jsonl"), HasSubstr("\"Confusion Matrix\":\"actual"));
}

TEST_F(MetricTraining, GoesOnInTheMiddleOfAnEpochWithWhatWasGathered) {
  const auto whole = launch(training());
  renderer = std::make_shared<Stopping>();
  renderer->items = 20;
  EXPECT_TRUE(launch(training()).interrupted());
  renderer = std::make_shared<Stopping>();
  device = Device::new_session("cpu");
  const auto resumed = launch(training().resume(train::latest));
  ASSERT_EQ(resumed.report.history.size(), 3u);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    for (std::size_t i = 1; i < 5; ++i) {
      EXPECT_EQ(resumed.report.history[epoch].train[i], whole.report.history[epoch].train[i]) << epoch << " " << i;
      EXPECT_EQ(resumed.report.history[epoch].valid[i], whole.report.history[epoch].valid[i]) << epoch << " " << i;
    }
  }
}

TEST_F(MetricTraining, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of(training().early_stopping({.metric = "Confusion Matrix"})), HasSubstr("is a text"));
  EXPECT_THAT(error_of(training().metrics(metric::Loss{}, metric::Loss{})), HasSubstr("two have the name \"Loss\""));
  EXPECT_THAT(error_of(training().metrics(metric::ConfusionMatrix{})), HasSubstr("no metric is a number"));
  EXPECT_THAT(
      error_of(training().metrics(metric::Loss{}, metric::WordErrorRate{})),
      HasSubstr("metric WER: needs \"targets\" of integers of rank 2; the step gives loss f32[1], output f32[10, "
                "2], targets i64[10]"));
}

// Multi-label: the item's class becomes two labels, one of which is true.
struct LabelNet {
  test::TinyNet net;
  BURN_MODULE(LabelNet, net)

  train::MultiLabelClassificationOutput step(const test::PointBatch& batch) const {
    const auto labels = batch.targets.one_hot<2>(2);
    const auto output = net.step(batch).output;
    return {nn::BinaryCrossEntropyLoss{.logits = true}(output, labels), output, labels};
  }
};

// Treats each item as a sequence of two equal tokens.
struct SequenceNet {
  test::TinyNet net;
  BURN_MODULE(SequenceNet, net)

  train::SequenceOutput step(const test::PointBatch& batch) const {
    const auto one = net.step(batch);
    const auto twice = Tensor<2, Int>::cat({batch.targets.reshape<2>({-1, 1}), batch.targets.reshape<2>({-1, 1})}, 1);
    const auto output = one.output.reshape<3>({-1, 1, 2});
    return {one.loss, Tensor<3>::cat({output, output}, 1), twice};
  }
};

TEST_F(MetricTraining, TakesOutputsOfSeveralLabelsAndOfSequences) {
  device.seed(1);
  const auto of_labels =
      training()
          .metrics(metric::Loss{}, metric::HammingScore{}.with_sigmoid(), metric::Precision::multilabel(0.5))
          .launch(train::Learner(LabelNet{test::TinyNet::init(device.autodiff())}, optim::AdamConfig{}, 0.05));
  EXPECT_GT(of_labels.report.history.back().valid[1], 70);
  device.seed(1);
  const auto of_sequences =
      training()
          .metrics(metric::Loss{}, metric::Accuracy{}, metric::WordErrorRate{}, metric::RougeLScore{})
          .launch(train::Learner(SequenceNet{test::TinyNet::init(device.autodiff())}, optim::AdamConfig{}, 0.05));
  const auto& last = of_sequences.report.history.back().valid;
  EXPECT_GT(last[1], 70);
  EXPECT_NEAR(last[1] + last[2], 100, 1e-3);  // accuracy + WER: both tokens of an item are right, or both are wrong
}

}  // namespace
}  // namespace burn
