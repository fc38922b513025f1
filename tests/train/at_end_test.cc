// launch()'s function for the final model, which is called before the training waits for the last numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

class AtEnd : public ::testing::Test {
 protected:
  auto training(std::int64_t epochs) {
    const auto [train, valid] = test::tiny_loaders(device);
    auto training = train::SupervisedTraining(folder / "run", train, valid)
                        .metrics(metric::Accuracy{}, metric::Loss{})
                        .renderer(std::make_shared<train::SilentRenderer>())
                        .observe(test::synchronous_observer(renderer))
                        .seed(7)
                        .epochs(epochs);
    return training;
  }
  train::Learner<test::TinyNet> learner() {
    device.seed(1);
    return {test::TinyNet::init(device.autodiff()), optim::AdamConfig{}, 0.05};
  }
  // A function that counts its calls and stores the model's record.
  auto keep() {
    return [this](const test::TinyNet& net) {
      calls += 1;
      record = net.into_record();
    };
  }
  void expect_record_of(const test::TinyNet& model) const {
    EXPECT_EQ(record.size(), 4u);
    for (const auto& [name, data] : model.into_record()) EXPECT_EQ(record.get(name), data) << name;
  }

  test::TempFolder folder;
  const Device device = Device::new_session("cpu");
  std::shared_ptr<test::RecordingRenderer> renderer = std::make_shared<test::RecordingRenderer>();
  int calls = 0;
  Record record;
};

TEST_F(AtEnd, TheModelIsAsTheResultHasIt) {
  const auto result = training(3).launch(learner(), keep());
  EXPECT_EQ(calls, 1);
  expect_record_of(result.model);
}

TEST_F(AtEnd, ItComesBeforeTheEpochIsOver) {
  std::size_t epochs_shown = 0;
  (void)training(3).launch(learner(), [&](const test::TinyNet&) { epochs_shown = renderer->epochs.size(); });
  EXPECT_EQ(epochs_shown, 2u);
}

TEST_F(AtEnd, ItChangesNothingOfTheTraining) {
  const auto without = training(2).launch(learner());
  const auto with = training(2).launch(learner(), [&](const test::TinyNet& net) {
    const auto noise = Tensor<1>::random({4}, Distribution::normal(0, 1), device);
    record = net.into_record();
    EXPECT_EQ(noise.to_data().num_elements(), 4u);
  });
  EXPECT_EQ(with.report.history.back().valid, without.report.history.back().valid);
  expect_record_of(without.model);
  const auto longer = training(3).resume(train::latest).launch(learner());
  EXPECT_EQ(longer.report.history.back().train, training(3).launch(learner()).report.history.back().train);
}

TEST_F(AtEnd, ItComesOnceWhereEarlyStoppingIsTheEnd) {
  const auto result = training(50)
                          .early_stopping({.metric = "Accuracy", .split = Split::valid, .patience = 3})
                          .launch(learner(), keep());
  ASSERT_EQ(result.report.reason, train::StopReason::stopped_early);
  EXPECT_EQ(calls, 1);
  expect_record_of(result.model);
}

TEST_F(AtEnd, ItComesWhereNothingWasLeftToTrain) {
  (void)training(2).launch(learner());
  const auto result = training(2).resume(train::latest).launch(learner(), keep());
  EXPECT_EQ(calls, 1);
  expect_record_of(result.model);
}

TEST_F(AtEnd, ItDoesNotComeAfterAnInterruption) {
  train::Interrupter interrupter;
  interrupter.stop("enough");
  EXPECT_TRUE(training(2).interrupter(interrupter).launch(learner(), keep()).interrupted());
  EXPECT_EQ(calls, 0);
}

TEST_F(AtEnd, WhatItThrowsComesWhenTheLastCheckpointIsWritten) {
  const auto fail = [](const test::TinyNet&) { throw Error(StatusCode::not_found, "no data to test with"); };
  EXPECT_EQ(test::error_of([&] { (void)training(2).launch(learner(), fail); }), "no data to test with");
  EXPECT_EQ(renderer->epochs.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/checkpoint/epoch-2/state.json"));
}

}  // namespace
}  // namespace burn
